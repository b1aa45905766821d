//! A sphere of triangles of nearly equal size: an icosahedron, each triangle cut in four, thrice.

use std::collections::HashMap;

use super::surface::{Surface, add, scaled, unit};

/// A sphere of diameter 1 m.
pub fn icosphere() -> Surface {
    let mut sphere = icosahedron();
    for _ in 0..3 {
        sphere = quartered(&sphere);
    }
    for vertex in &mut sphere.vertices {
        *vertex = scaled(*vertex, 0.5);
    }
    sphere
}

fn icosahedron() -> Surface {
    let golden = 0.5 * (1.0 + libm::sqrt(5.0));
    let mut surface = Surface::default();
    // Three golden rectangles in the coordinate planes, four corners each.
    for axis in 0..3 {
        for (long, short) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
            let mut point = [0.0; 3];
            point[axis] = long * golden;
            point[(axis + 1) % 3] = short;
            surface.vertex(unit(point));
        }
    }
    #[rustfmt::skip]
    let triangles = vec![
        [0, 8, 1], [0, 1, 10], [0, 5, 4], [0, 4, 8], [0, 10, 5],
        [1, 6, 7], [1, 8, 6], [1, 7, 10], [2, 3, 9], [2, 11, 3],
        [2, 4, 5], [2, 9, 4], [2, 5, 11], [3, 7, 6], [3, 6, 9],
        [3, 11, 7], [4, 9, 8], [5, 10, 11], [6, 8, 9], [7, 11, 10],
    ];
    surface.triangles = triangles;
    surface
}

fn quartered(coarse: &Surface) -> Surface {
    let mut fine = Surface { vertices: coarse.vertices.clone(), triangles: Vec::new() };
    let mut middles: HashMap<(u32, u32), u32> = HashMap::new();
    for &[a, b, c] in &coarse.triangles {
        let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(from, to)| {
            *middles.entry((from.min(to), from.max(to))).or_insert_with(|| {
                let sum = add(fine.vertices[from as usize], fine.vertices[to as usize]);
                fine.vertices.push(unit(sum));
                (fine.vertices.len() - 1) as u32
            })
        });
        fine.triangles.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    fine
}
