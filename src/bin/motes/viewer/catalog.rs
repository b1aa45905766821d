//! The built-in scenes, as the panel lists them.
//!
//! The pictures come from `motes render NAME --size 160x90 --dark -o assets/thumbnails/NAME.png`.

use super::bitmap;
use crate::painter::Canvas;
use crossbeam::channel::{Receiver, unbounded};
use motes::Scene;

macro_rules! pictures {
    ($($name:literal)+) => {
        const PICTURES: &[(&str, &[u8])] = &[$((
            $name,
            include_bytes!(concat!("../../../../assets/thumbnails/", $name, ".png")),
        )),+];
    };
}
pictures! {
    "axe" "bodies" "bowl" "boxes_216k" "buoyancy" "cape" "cloth_hang" "cloth_stretch" "curtain"
    "dam_break" "dominoes" "droplets" "flag" "fountain" "grains_box" "granular_216k" "hydrostatic"
    "ledge" "mud" "push_through" "rabbit" "sand_heap" "spike" "splash" "stack" "stairs" "tear"
    "trampoline" "two_fluids" "wade" "walk_through" "wet_cloth"
}

/// A scene that can be opened.
pub struct Entry {
    pub name: &'static str,
    pub title: String,
    pub source: String,
    /// Known once the scene was built.
    pub particles: Option<usize>,
    /// Names behind the colon.
    pub variants: Vec<String>,
    pub picture: Option<Canvas>,
}

/// All built-in scenes, by name.
pub struct Catalog {
    pub entries: Vec<Entry>,
    counts: Receiver<(usize, usize)>,
}

impl Catalog {
    pub fn new() -> Self {
        let entry = |name: &'static str| {
            let scene = Scene::load(name).ok()?;
            Some(Entry {
                name,
                title: scene.title().into(),
                source: scene.source().into(),
                particles: None,
                variants: scene.variants().to_vec(),
                picture: picture(name),
            })
        };
        let entries: Vec<Entry> = Scene::builtin_names().filter_map(entry).collect();
        let names: Vec<&str> = entries.iter().map(|e| e.name).collect();
        let (found, counts) = unbounded();
        // How many particles a scene has is known only when it is built. Nothing waits for it.
        let count = move || {
            for (k, name) in names.into_iter().enumerate() {
                let built = Scene::load(name).and_then(|scene| scene.build());
                let told = built.map(|world| found.send((k, world.particles().len())));
                if matches!(told, Ok(Err(_))) {
                    return;
                }
            }
        };
        let _ = std::thread::Builder::new().name("catalog".into()).spawn(count);
        Catalog { entries, counts }
    }

    /// Takes the counts that are known by now.
    pub fn update(&mut self) {
        for (k, count) in self.counts.try_iter() {
            self.entries[k].particles = Some(count);
        }
    }

    /// The scene before or after one; the first when it is not built in.
    pub fn neighbour(spec: &str, by: isize) -> Option<&'static str> {
        let names: Vec<&'static str> = Scene::builtin_names().collect();
        let base = spec.split(':').next().unwrap_or(spec);
        let count = names.len() as isize;
        let at = names.iter().position(|name| *name == base).map_or(0, |k| k as isize + by);
        names.get(at.rem_euclid(count.max(1)) as usize).copied()
    }
}

/// The picture of a scene.
fn picture(name: &str) -> Option<Canvas> {
    let (_, bytes) = PICTURES.iter().find(|(known, _)| *known == name)?;
    let mut reader = png::Decoder::new(std::io::Cursor::new(*bytes)).read_info().ok()?;
    let mut pixels = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut pixels).ok()?;
    if info.color_type != png::ColorType::Rgb {
        return None;
    }
    let mut canvas = Canvas::new(info.width, info.height);
    for (word, rgb) in canvas.pixels.iter_mut().zip(pixels.chunks_exact(3)) {
        *word = bitmap::word([rgb[0], rgb[1], rgb[2]]);
    }
    Some(canvas)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_has_a_picture() {
        for name in Scene::builtin_names() {
            let picture = picture(name);
            assert!(picture.is_some_and(|p| p.width() == 160 && p.height() == 90), "{name}");
        }
    }
}
