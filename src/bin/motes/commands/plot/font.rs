//! Letters of 5 by 9 points for plots: seven rows above the base line, two below.
//! A digit of the table is a row, bit 4 its left point, in base 32 (0-9, a-v).

const LETTERS: &[(char, &str)] = &[
    ('a', "00e1fhf00"),
    ('b', "gguhhhu00"),
    ('c', "00fgggf00"),
    ('d', "11fhhhf00"),
    ('e', "00ehvge00"),
    ('f', "69s888800"),
    ('g', "00fhhhf1e"),
    ('h', "gguhhhh00"),
    ('i', "40c444e00"),
    ('j', "20622222c"),
    ('k', "ggikoki00"),
    ('l', "c44444e00"),
    ('m', "00qllll00"),
    ('n', "00uhhhh00"),
    ('o', "00ehhhe00"),
    ('p', "00uhhhugg"),
    ('q', "00fhhhf11"),
    ('r', "00mp8ggg0"),
    ('s', "00fge1u00"),
    ('t', "88s888600"),
    ('u', "00hhhhf00"),
    ('v', "00hhha400"),
    ('w', "00hllla00"),
    ('x', "00ha4ah00"),
    ('y', "00hhhhf1e"),
    ('z', "00v248v00"),
    ('0', "ehjlphe00"),
    ('1', "4c4444e00"),
    ('2', "eh1248v00"),
    ('3', "v2421he00"),
    ('4', "26aiv2200"),
    ('5', "vgu11he00"),
    ('6', "68guhhe00"),
    ('7', "v12488800"),
    ('8', "ehhehhe00"),
    ('9', "ehhf12c00"),
    ('.', "00000cc00"),
    (',', "00000c480"),
    ('%', "opo4bjb00"),
    ('-', "000v00000"),
    ('=', "00v0v0000"),
    (':', "0cc0cc000"),
    ('/', "112488g00"),
    ('(', "248884200"),
    (')', "842224800"),
    ('+', "044v44000"),
    ('_', "0000000v0"),
    ('<', "248g84200"),
    ('>', "842124800"),
];

/// The rows of a letter, from the top; empty for what has none. Capitals are shown small.
pub fn rows(letter: char) -> [u8; 9] {
    let mut rows = [0; 9];
    let letter = letter.to_ascii_lowercase();
    if let Some((_, digits)) = LETTERS.iter().find(|(known, _)| *known == letter) {
        for (row, digit) in rows.iter_mut().zip(digits.chars()) {
            *row = digit.to_digit(32).unwrap_or(0) as u8;
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_letter_has_nine_rows_of_five_points() {
        for (letter, digits) in LETTERS {
            assert!(digits.len() == 9 && digits.chars().all(|d| d.is_digit(32)), "{letter}");
            assert!(rows(*letter).iter().any(|&row| row != 0));
        }
        assert_eq!(rows(' '), [0; 9]);
    }
}
