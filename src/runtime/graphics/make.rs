//! The thread that reads pictures: how large one is, and its pixels in the size in which it is seen. It is started by the
//! first picture, and looks at one after the other, so that never more than one is in memory whole.
//!
//! Only files in a session's own folder of attachments are opened, whatever a row says of their place, and no link is
//! followed there.

use super::super::client::event::RuntimeEvent;
use super::form::PictureForm;
use super::way::PictureWay;
use super::{inline, sixel};
use crate::app::Msg;
use crate::domain::SessionId;
use crate::domain::attachment::{FOLDER, copy_in};
use crate::domain::picture::{Cells, KnownPicture, Pixels, Want, fit};
use image::codecs::png::{CompressionType, FilterType as PngFilter, PngEncoder};
use image::imageops::FilterType;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageEncoder as _, ImageError, ImageReader, Limits, RgbaImage};
use rustix::fs::{FileType, Mode, OFlags};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use tokio::sync::mpsc::UnboundedSender;

/// A larger file is not opened, in bytes.
const LARGEST: u64 = 32 << 20;
/// A larger picture is not decoded, in pixels.
const MOST_PIXELS: u64 = 50_000_000;
/// Memory limit for decoding, in bytes.
const MOST_MEMORY: u64 = 256 << 20;
/// Pixels above which a picture is made smaller in the quickest way.
const QUICKLY: u64 = 12_000_000;

/// Task of the picture thread.
#[derive(Debug)]
pub(in super::super) enum PictureJob {
    /// Say how large the pictures in these files of a session are.
    Measure(SessionId, Vec<PathBuf>),
    /// Prepare these pictures of a session, for this cell size in pixels and this protocol.
    Shrink(SessionId, Vec<Want>, Pixels, PictureWay),
}

/// The way to the thread, which ends when this is dropped. `sessions` is where sessions have their folders. Where there is
/// no thread to be had, pictures stay described.
pub(in super::super) fn start(sessions: PathBuf, tell: UnboundedSender<RuntimeEvent>) -> Sender<PictureJob> {
    let (studio, jobs) = channel::<PictureJob>();
    let thread = std::thread::Builder::new().name("lisle-pictures".into()).spawn(move || {
        for job in jobs {
            match job {
                PictureJob::Measure(session, files) => {
                    let size = |path: PathBuf| {
                        let known = open(&sessions, &session, &path).and_then(measure);
                        (path, known.map_or_else(KnownPicture::Broken, KnownPicture::Sized))
                    };
                    let sizes = files.into_iter().map(size).collect();
                    if tell.send(RuntimeEvent::Late(Msg::Measured(sizes))).is_err() {
                        return;
                    }
                }
                PictureJob::Shrink(session, wants, cell, way) => {
                    for want in wants {
                        let file = open(&sessions, &session, &want.path);
                        let made = file.and_then(|file| make(file, want.cells, cell, way));
                        if tell.send(RuntimeEvent::Shrunk(session.clone(), want, made)).is_err() {
                            return;
                        }
                    }
                }
            }
        }
    });
    if let Err(error) = thread {
        tracing::warn!("can't draw images: {error}");
    }
    studio
}

/// A file of a session.
fn open(sessions: &Path, session: &SessionId, path: &Path) -> Result<BufReader<File>, String> {
    let kept = "no copy kept";
    let folder = sessions.join(session.as_str());
    let name = copy_in(&folder, path).and_then(|copy| Some(copy.file_name()?.to_owned())).ok_or(kept)?;
    let at = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let folder = rustix::fs::open(folder.join(FOLDER), at | OFlags::DIRECTORY, Mode::empty()).map_err(|_| kept)?;
    // A pipe of that name would never open otherwise.
    let file = rustix::fs::openat(&folder, name, at | OFlags::NONBLOCK, Mode::empty()).map_err(|_| kept)?;
    let facts = rustix::fs::fstat(&file).map_err(|_| kept)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Err("not a file".to_owned());
    }
    if u64::try_from(facts.st_size).is_ok_and(|bytes| bytes > LARGEST) {
        return Err("too large to show".to_owned());
    }
    Ok(BufReader::new(File::from(file)))
}

fn broken(error: ImageError) -> String {
    tracing::debug!("can't draw an image: {error}");
    match error {
        ImageError::Limits(_) => "too large to show".to_owned(),
        ImageError::Unsupported(_) => "unsupported image format".to_owned(),
        _ => "damaged image".to_owned(),
    }
}

fn decoder<'f>(file: impl BufRead + Seek + 'f) -> Result<(impl ImageDecoder + 'f, Orientation), String> {
    let reader = ImageReader::new(file).with_guessed_format();
    let mut reader = reader.map_err(|_| "damaged image".to_owned())?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(broken)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err("too large to show".to_owned());
    }
    // Photographs are stored as the sensor saw them.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((decoder, orientation))
}

/// Size of a picture as displayed.
fn measure(file: impl BufRead + Seek) -> Result<Pixels, String> {
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    let (decoder, orientation) = decoder(file)?;
    let (width, height) = decoder.dimensions();
    Ok(match orientation {
        Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH => Pixels { width: height, height: width },
        _ => Pixels { width, height },
    })
}

/// Picture for a number of cells of this size, as the protocol needs it; of an animation the first frame.
fn make(file: impl BufRead + Seek, cells: Cells, cell: Pixels, way: PictureWay) -> Result<PictureForm, String> {
    let (decoder, orientation) = decoder(file)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(broken)?;
    picture.apply_orientation(orientation);
    let full = Pixels { width: picture.width(), height: picture.height() };
    let small = fit(full, cell, cells).ok_or("empty image")?.pixels;
    let many = u64::from(full.width) * u64::from(full.height) > QUICKLY;
    let picture = if small == full {
        picture.to_rgba8()
    } else if many {
        picture.thumbnail_exact(small.width, small.height).to_rgba8()
    } else {
        picture.resize_exact(small.width, small.height, FilterType::Triangle).to_rgba8()
    };
    // Whole cells: what is left shows through.
    let whole = |pixels: u32, cells: u16| pixels * u32::from(cells);
    let mut canvas = RgbaImage::new(whole(cell.width, cells.cols), whole(cell.height, cells.rows));
    image::imageops::replace(&mut canvas, &picture, 0, 0);
    Ok(match way {
        PictureWay::Kitty => PictureForm::Kitty(png(&canvas, CompressionType::Default)?),
        PictureWay::Iterm => {
            let whole = inline::sequence(&png(&canvas, CompressionType::Default)?, cells);
            PictureForm::Inline(canvas, whole.into())
        }
        PictureWay::Sixel => {
            let indexed = sixel::Indexed::of(&canvas);
            let side = |pixels: u32| usize::try_from(pixels).unwrap_or(0);
            let whole = indexed.encode(0, 0, side(canvas.width()), side(canvas.height()));
            PictureForm::Sixel(indexed, whole.into())
        }
    })
}

/// Pixels as a PNG.
pub(super) fn png(pixels: &RgbaImage, compression: CompressionType) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    PngEncoder::new_with_quality(&mut out, compression, PngFilter::Adaptive)
        .write_image(pixels.as_raw(), pixels.width(), pixels.height(), image::ExtendedColorType::Rgba8)
        .map_err(broken)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgba;
    use std::io::{Cursor, Read as _};

    const CELL: Pixels = Pixels { width: 10, height: 20 };

    fn sample(width: u32, height: u32) -> Vec<u8> {
        let left = |x: u32| x < width / 2;
        let pixel = |x, _| if left(x) { Rgba([200, 10, 10, 255]) } else { Rgba([10, 10, 200, 255]) };
        png(&RgbaImage::from_fn(width, height, pixel), CompressionType::Fast).unwrap()
    }

    #[test]
    fn a_picture_is_made_small_and_fills_whole_cells() {
        let bytes = sample(1280, 720);
        let bytes = || Cursor::new(&bytes);
        assert_eq!(measure(bytes()), Ok(Pixels { width: 1280, height: 720 }));
        let cells = Cells { cols: 57, rows: 16 };
        let PictureForm::Kitty(sent) = make(bytes(), cells, CELL, PictureWay::Kitty).unwrap() else { panic!() };
        let shown = image::load_from_memory(&sent).unwrap().to_rgba8();
        assert_eq!(shown.dimensions(), (570, 320));
        assert_eq!(shown.get_pixel(100, 100).0, [200, 10, 10, 255]);
        assert_eq!(shown.get_pixel(500, 300).0, [10, 10, 200, 255]);
        assert_eq!(shown.get_pixel(569, 300).0[3], 0, "beside it nothing is drawn");
        let PictureForm::Sixel(_, whole) = make(bytes(), cells, CELL, PictureWay::Sixel).unwrap() else { panic!() };
        let (width, height, pixels) = sixel::tests::decode(&whole);
        assert_eq!((width, height), (570, 320));
        let near = |got: Option<[u8; 3]>, want: [u8; 3]| {
            got.is_some_and(|got| got.iter().zip(want).all(|(a, b)| a.abs_diff(b) < 4))
        };
        assert!(near(pixels[100 * 570 + 100], [200, 10, 10]) && near(pixels[300 * 570 + 500], [10, 10, 200]));
        assert_eq!(pixels[300 * 570 + 569], None);
        let PictureForm::Inline(_, whole) = make(bytes(), cells, CELL, PictureWay::Iterm).unwrap() else { panic!() };
        assert!(whole.starts_with(b"\x1b]1337;File=inline=1;"));
    }

    #[test]
    fn what_is_broken_or_too_large_is_told() {
        let mut cut = sample(200, 100);
        cut.truncate(50);
        let cells = Cells { cols: 20, rows: 5 };
        assert_eq!(make(Cursor::new(cut), cells, CELL, PictureWay::Kitty).map(|_| ()), Err("damaged image".to_owned()));
        assert_eq!(measure(Cursor::new(b"hello")).unwrap_err(), "unsupported image format");
        // A header that claims more than is ever decoded.
        let mut bomb = sample(4, 4);
        bomb[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        assert!(measure(Cursor::new(bomb)).is_err());
    }

    #[test]
    fn only_the_sessions_own_files_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let (sessions, session) = (dir.path().join("sessions"), SessionId::parse("260902-swift-river").unwrap());
        let folder = sessions.join(session.as_str()).join(FOLDER);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a.png"), "inside").unwrap();
        std::fs::write(dir.path().join("secret.png"), "outside").unwrap();
        std::os::unix::fs::symlink(dir.path().join("secret.png"), folder.join("link.png")).unwrap();
        std::fs::create_dir(folder.join("folder.png")).unwrap();
        let open = |path: &Path| {
            open(&sessions, &session, path).map(|mut file| {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                text
            })
        };
        assert_eq!(open(Path::new("/elsewhere/a.png")).unwrap(), "inside", "the name counts");
        for path in [&dir.path().join("secret.png"), &folder.join("link.png"), &folder.join("../../../secret.png")] {
            assert!(open(path).unwrap_err().contains("no copy"), "{}", path.display());
        }
        for path in ["", "/", "..", "/s/attachments/.."] {
            assert!(open(Path::new(path)).is_err(), "{path}");
        }
        assert!(open(Path::new("folder.png")).is_err());
        // The folder itself may not lead elsewhere.
        let other = SessionId::parse("260902-calm-lake").unwrap();
        std::fs::create_dir_all(sessions.join(other.as_str())).unwrap();
        std::os::unix::fs::symlink(dir.path(), sessions.join(other.as_str()).join(FOLDER)).unwrap();
        assert!(super::open(&sessions, &other, Path::new("secret.png")).is_err());
    }
}
