//! The themes that come with lisle, what a terminal of fewer colours makes of them, and the problems of invalid files.

use super::resolve::falls_back_to;
use super::*;

fn user(name: &str, text: &str) -> ThemeText {
    ThemeText { name: name.to_owned(), file: format!("themes/{name}.toml"), text: text.to_owned() }
}

#[test]
fn the_built_in_themes_are_whole_and_free_of_problems() {
    for name in builtin_names() {
        let loaded = load(name, &[]);
        assert_eq!(loaded.problems, vec![], "{name}");
        assert_eq!(loaded.theme.name, name);
    }
    assert!(Theme::builtin(true).dark);
    assert!(!Theme::builtin(false).dark);
}

#[test]
fn every_theme_of_the_folder_is_embedded() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/themes")).unwrap();
    let mut files: Vec<_> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    let mut known: Vec<_> = builtin_names().map(|name| format!("{name}.toml")).collect();
    files.sort();
    known.sort();
    assert_eq!(files, known);
}

/// Roles that are lines or grounds, not letters.
const NO_LETTERS: [Role; 4] = [Role::Rule, Role::RuleFocus, Role::UserGround, Role::CodeGround];
/// Grounds that text without a ground of its own stands on.
const UNDER: [Role; 5] = [Role::Text, Role::Panel, Role::UserGround, Role::CodeGround, Role::SelectedDim];
/// Marks and lines that show the focus.
const MARKS: [Role; 6] = [Role::RuleFocus, Role::Accent, Role::NeedsYou, Role::Running, Role::Unread, Role::Key];

#[test]
fn text_can_be_read_on_every_ground_it_stands_on() {
    for name in builtin_names().filter(|name| !matches!(*name, "ansi" | "ansi-light" | "mono")) {
        let full = load(name, &[]).theme;
        let least = if name == "high-contrast" { 7.0 } else { 4.5 };
        readable(&full, least);
        // The nearest of 256 is sometimes a little less.
        readable(&full.for_terminal(Colors::C256), least * 0.85);
    }
}

fn readable(theme: &Theme, least: f64) {
    let ink = theme.style(Role::Text).fg.unwrap();
    let ground = |role: Role| theme.style(role).bg.unwrap();
    let contrast = |ink, ground| colour::contrast(ink, ground).unwrap();
    for &role in Role::ALL.iter().filter(|role| !NO_LETTERS.contains(role)) {
        let style = theme.style(role);
        let on: Vec<Color> = style.bg.map_or_else(|| UNDER.map(ground).to_vec(), |bg| vec![bg]);
        for under in on {
            let has = contrast(style.fg.unwrap_or(ink), under);
            assert!(has >= least, "{} {} has {has:.2} on {under:?}", theme.name, role.word());
        }
    }
    // Code keeps its colours on the grounds of what came and went.
    for under in [Role::DiffAdded, Role::DiffRemoved].map(ground) {
        let code = [Role::CodeKeyword, Role::CodeString, Role::CodeComment, Role::CodeNumber, Role::CodeType];
        for role in code.into_iter().chain([Role::CodeFunction, Role::CodeConstant]) {
            let has = contrast(theme.style(role).fg.unwrap(), under);
            assert!(has >= least.min(4.5), "{} {} in a change has {has:.2}", theme.name, role.word());
        }
    }
}

#[test]
fn sixteen_colours_can_be_read_on_a_light_ground() {
    let themes = builtin_names().map(|name| load(name, &[]).theme).filter(|theme| !theme.dark);
    let themes: Vec<Theme> = themes.map(|theme| theme.for_terminal(Colors::C16)).collect();
    assert!(themes.len() > 5);
    for theme in &themes {
        for &role in Role::ALL.iter().filter(|role| !NO_LETTERS.contains(role)) {
            let Style { fg, bg, .. } = theme.style(role);
            let grounded = bg.is_some_and(|bg| bg != Color::Reset);
            let readable = fg.is_none_or(colour::is_readable_on_white);
            assert!(grounded || readable, "{} {} is {fg:?} on the light ground", theme.name, role.word());
        }
    }
    // xterm's palette (charproc.h), on white.
    for (color, rgb) in [
        (Color::Red, (0xcd, 0, 0)),
        (Color::Green, (0, 0xcd, 0)),
        (Color::Yellow, (0xcd, 0xcd, 0)),
        (Color::Blue, (0, 0, 0xee)),
        (Color::Magenta, (0xcd, 0, 0xcd)),
        (Color::Cyan, (0, 0xcd, 0xcd)),
    ] {
        let has = colour::contrast(Color::Rgb(rgb.0, rgb.1, rgb.2), Color::Rgb(255, 255, 255)).unwrap();
        assert_eq!(has >= 4.5, colour::is_readable_on_white(color), "{color:?} has {has:.2}");
    }
    use crate::domain::colour::{Colour, Rgb};
    let yellow = Colour::Own { light: Rgb(255, 200, 0), dark: Rgb(255, 200, 0) };
    assert_eq!(Theme::builtin(false).for_terminal(Colors::C16).tag(yellow), Style::new());
    assert_eq!(Theme::builtin(true).for_terminal(Colors::C16).tag(yellow).fg, Some(Color::Yellow));
}

#[test]
fn focus_can_be_seen() {
    for name in builtin_names().filter(|name| !matches!(*name, "ansi" | "ansi-light" | "mono")) {
        for theme in [Colors::True, Colors::C256].map(|colors| load(name, &[]).theme.for_terminal(colors)) {
            for under in [Role::Text, Role::Panel].map(|role| theme.style(role).bg.unwrap()) {
                let band = colour::contrast(theme.style(Role::Selected).bg.unwrap(), under).unwrap();
                assert!(band >= 3.0, "{name}: the cursor row has {band:.2}");
                for role in MARKS {
                    let has = colour::contrast(theme.style(role).fg.unwrap(), under).unwrap();
                    assert!(has >= 3.0, "{name}: {} has {has:.2}", role.word());
                }
            }
        }
    }
}

#[test]
fn fewer_colours_stay_within_their_number() {
    for name in builtin_names() {
        let theme = load(name, &[]).theme;
        let [full, many, few, mono] =
            [Colors::True, Colors::C256, Colors::C16, Colors::None].map(|colors| theme.for_terminal(colors));
        for &role in Role::ALL {
            let of = |colors| match colors {
                Colors::True => full.style(role),
                Colors::C256 => many.style(role),
                Colors::C16 => few.style(role),
                Colors::None => mono.style(role),
            };
            let rgb = |color: Option<Color>| matches!(color, Some(Color::Rgb(..)));
            assert!(!rgb(of(Colors::C256).fg) && !rgb(of(Colors::C256).bg));
            assert!(colour::is_basic(of(Colors::C16)), "{name} {}", role.word());
            let none = of(Colors::None);
            assert_eq!((none.fg, none.bg), (None, None), "{name} {}", role.word());
            assert_eq!(of(Colors::True), theme.style(role));
        }
        for colors in [Colors::C16, Colors::None] {
            let theme = theme.for_terminal(colors);
            assert_ne!(theme.style(Role::Selected), theme.style(Role::Text));
            assert_ne!(theme.style(Role::Selected), theme.style(Role::SelectedDim));
            assert_ne!(theme.style(Role::NeedsYou), theme.style(Role::Text));
        }
    }
}

#[test]
fn grounds_stay_apart_in_256_colours() {
    for name in builtin_names() {
        let theme = load(name, &[]).theme;
        let few = theme.for_terminal(Colors::C256);
        for (role, below) in GROUNDS {
            for below in below {
                let same = |theme: &Theme| theme.style(role).bg == theme.style(*below).bg;
                assert_eq!(same(&theme), same(&few), "{name} {} {}", role.word(), below.word());
            }
        }
    }
}

#[test]
fn the_nearest_of_256_is_the_colour_itself_where_it_exists() {
    for (rgb, n) in
        [((0, 0, 0), 16), ((255, 255, 255), 231), ((95, 135, 175), 67), ((8, 8, 8), 232), ((215, 0, 0), 160)]
    {
        let style = colour::to_256(Style::new().fg(Color::Rgb(rgb.0, rgb.1, rgb.2)));
        assert_eq!(style.fg, Some(Color::Indexed(n)), "{rgb:?}");
    }
}

#[test]
fn contrast_is_that_of_wcag() {
    let of = |a, b| colour::contrast(a, b).map(|c| (c * 100.0).round() / 100.0);
    assert_eq!(of(Color::Rgb(255, 255, 255), Color::Rgb(0, 0, 0)), Some(21.0));
    assert_eq!(of(Color::Rgb(119, 119, 119), Color::Rgb(255, 255, 255)), Some(4.48));
    assert_eq!(of(Color::Reset, Color::Rgb(0, 0, 0)), None);
}

#[test]
fn a_file_says_only_what_is_different() {
    let mine = user("mine", "inherits = \"lisle-dark\"\n[palette]\nblue = \"#00ff00\"\n[roles]\ndim = \"blue\"\n");
    let loaded = load("mine", std::slice::from_ref(&mine));
    assert_eq!(loaded.problems, vec![]);
    let green = Some(Color::Rgb(0, 255, 0));
    assert_eq!(loaded.theme.style(Role::Dim).fg, green);
    assert_eq!(loaded.theme.style(Role::Accent).fg, green, "inherited roles use the new palette");
    assert_eq!(loaded.theme.style(Role::Error), Theme::builtin(true).style(Role::Error));

    // A user's file may stand before the built-in one of its name and inherit it.
    let over = user("lisle-dark", "inherits = \"lisle-dark\"\n[roles]\nerror = { fg = 196, bold = true }\n");
    let loaded = load("lisle-dark", &[over]);
    assert_eq!(loaded.problems, vec![]);
    assert_eq!(loaded.theme.style(Role::Error), Style::new().fg(Color::Indexed(196)).bold());
    assert_eq!(loaded.theme.style(Role::Text), Theme::builtin(true).style(Role::Text));
}

#[test]
fn a_role_that_nobody_names_takes_its_neighbours_style() {
    let bare = user("bare", "[roles]\ntext = { fg = \"white\", bg = \"black\" }\nstrong = \"red\"\n");
    let theme = load("bare", &[bare]).theme;
    assert_eq!(theme.style(Role::Link), Style::new().fg(Color::Red));
    assert_eq!(theme.style(Role::Thinking), Style::new().fg(Color::Gray), "without the ground of the screen");
    assert_eq!(theme.style(Role::Selected), Style::new().reversed());
    for &role in Role::ALL {
        let mut at = role;
        for _ in 0..Role::ALL.len() {
            at = falls_back_to(at).unwrap_or(at);
        }
        let ends = [Role::Text, Role::SelectedDim, Role::UserGround, Role::CodeGround];
        assert!(ends.contains(&at), "{} ends at {}", role.word(), at.word());
    }
}

#[test]
fn problems_name_file_line_and_fix() {
    let table = [
        ("[roles]\nacent = \"red\"\n", "themes/t.toml:2: unknown role `acent`; did you mean `accent`?"),
        ("rolls = 1\n", "themes/t.toml:1: unknown theme key `rolls`; did you mean `roles`?"),
        ("\n[roles]\ndim = { fgg = \"red\" }\n", "themes/t.toml:3: `dim` has no key `fgg`; did you mean `fg`?"),
        ("[roles]\ndim = { bold = 1 }\n", "themes/t.toml:2: `bold` must be true or false"),
        (
            "[roles]\ndim = \"gren\"\n",
            "themes/t.toml:2: `dim` uses `gren`, which is not in the palette; did you mean `green`?",
        ),
        ("inherits = \"lisle-drak\"\n", "themes/t.toml: unknown theme `lisle-drak`; did you mean `lisle-dark`?"),
        ("inherits = \"t\"\n", "themes/t.toml: theme `t` inherits itself; remove one `inherits`"),
    ];
    for (text, want) in table {
        let loaded = load("t", &[user("t", text)]);
        let said: Vec<String> = loaded.problems.iter().map(ToString::to_string).collect();
        assert_eq!(said, [want], "{text}");
    }
    let said = |text| load("t", &[user("t", text)]).problems.into_iter().map(|p| p.to_string()).collect::<String>();
    assert!(said("[palette]\nx = \"#12\"\n").starts_with("themes/t.toml:2: palette entry `x` is not a color"));
    assert!(said("dark = true\n[roles\n").starts_with("themes/t.toml:2: not valid TOML:"));
    assert_eq!(load("nope", &[]).problems.len(), 1);
    assert_eq!(load("nope", &[]).theme.style(Role::Text), Theme::builtin(true).style(Role::Text));
}

proptest::proptest! {
    #[test]
    fn any_text_gives_a_whole_theme(text in "(\\[roles\\]\n)?[a-z#\\[\\]{}=\" \n0-9-]{0,80}") {
        let loaded = load("t", &[user("t", &text)]);
        proptest::prop_assert_eq!(loaded.theme.styles.len(), Role::ALL.len());
    }
}

#[test]
fn a_workspaces_colour_is_shown_as_far_as_it_can_be() {
    use crate::domain::colour::{Colour, Rgb, System};
    let dark = Theme::builtin(true);
    let own = Colour::Own { light: Rgb(200, 0, 0), dark: Rgb(255, 120, 120) };
    assert_eq!(dark.tag(own).fg, Some(Color::Rgb(255, 120, 120)));
    assert_eq!(Theme::builtin(false).tag(own).fg, Some(Color::Rgb(200, 0, 0)));
    assert_eq!(dark.for_terminal(Colors::C16).tag(own).fg, Some(Color::Red));
    assert_eq!(dark.for_terminal(Colors::None).tag(own), Style::new());
    assert!(matches!(dark.for_terminal(Colors::C256).tag(own).fg, Some(Color::Indexed(16..))));
    let good = Colour::System(System::Success, 100);
    assert_eq!(dark.tag(good).fg, dark.style(Role::Good).fg);
    for (rgb, want) in [
        ((255, 0, 0), Some(Color::Red)),
        ((255, 200, 0), Some(Color::Yellow)),
        ((0, 160, 0), Some(Color::Green)),
        ((0, 200, 200), Some(Color::Cyan)),
        ((60, 90, 255), Some(Color::Blue)),
        ((200, 60, 200), Some(Color::Magenta)),
        ((128, 130, 128), None),
    ] {
        assert_eq!(colour::basic(rgb.0, rgb.1, rgb.2), want, "{rgb:?}");
    }
}
