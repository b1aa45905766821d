//! `motes skeleton` from the command line.

use super::{Folder, bad, good, json, motes, text};

const BVH: &str = "HIERARCHY\nROOT hip { OFFSET 0 1 0 CHANNELS 1 Xrotation\nJOINT leg { OFFSET 0 -0.5 0\n\
                   CHANNELS 0\nEnd Site { OFFSET 0 -0.4 0 } } }\nMOTION\nFrames: 3\nFrame Time: 0.5\n0\n1\n2\n";

#[test]
fn bones_and_clips_are_listed_as_text_and_json() {
    let folder = Folder::new();
    let (file, list) = (folder.path("leg.bvh"), folder.path("leg.json"));
    std::fs::write(&file, BVH).unwrap();
    let printed = good(&["skeleton", &file, "--json", &list]);
    assert!(printed.contains("leg.bvh: 2 bones, 1 clips, no mesh"), "{printed}");
    assert!(printed.lines().any(|l| l.split_whitespace().eq(["leg", "hip", "0.400"])), "{printed}");
    let found = json(list.as_ref());
    assert_eq!(found["bones"][0]["length"], 0.5);
    assert_eq!(found["bones"][1]["parent"], "hip");
    assert_eq!(found["clips"][0]["duration_s"], 1.0);
    assert_eq!(found["clips"][0]["keyframes"], 3);
    assert!(found["mesh"].is_null());
    assert!(good(&["skeleton", "person"]).contains("person: 17 bones, 3 clips, 1462 vertices"));
    // What is left out is told of.
    std::fs::write(&file, BVH.replace("Frames: 3", "Frames: 2")).unwrap();
    let output = motes(&["skeleton", &file]);
    assert!(output.status.success() && text(&output.stderr).starts_with("warning: "));
}

#[test]
fn files_that_are_no_good_are_refused_and_nothing_written() {
    let folder = Folder::new();
    let (file, list) = (folder.path("bad.bvh"), folder.path("bad.json"));
    for (bytes, why) in [
        (BVH.replace("Frames: 3", "Frames: 1000000000"), "bad.bvh:7: Frames: 1000000000 are"),
        (BVH.replace("\n2\n", "\n2 3\n"), "bad.bvh:11: frame 2: has 2 numbers"),
        ("rubbish".into(), "give a BVH file"),
        ("{}".into(), "bad.bvh:1: JSON: "),
        ("glTF".into(), "cut short"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let message = bad(2, &["skeleton", &file, "--json", &list]);
        assert!(message.contains(why), "{message}");
    }
    assert!(bad(2, &["skeleton", &folder.path("none.glb")]).contains("none.glb"));
    assert!(bad(2, &["skeleton", &folder.path("")]).contains("is not a file"));
    assert!(bad(2, &["skeleton", &file, "--json", &file]).contains("the skeleton"));
    assert!(!std::path::Path::new(&list).exists());
}
