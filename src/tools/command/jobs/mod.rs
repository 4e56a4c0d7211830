//! Commands that go on in the background: started by `bash`, read with `job_output`, ended with `job_kill`.
//!
//! A job is held like every command: the same profile, the same parent, and it ends with lisle, whatever becomes of it.
//! It belongs to the session and not to the turn: stopping a turn leaves it alone. What it writes is kept twice: the end in
//! memory, and up to a bound all of it in the session's `long_responses/`.

mod output;

use super::confinement::ForUser;
use super::output_buffer::last_lines;
use super::process::{self, CommandRun, Over, Taker};
use crate::domain::At;
use crate::domain::ids::CallId;
use crate::domain::job::{EndedBy, JobEnd, JobShown};
use crate::domain::permission::Sandbox;
use crate::tools::files::text;
use crate::tools::host::Host;
use crate::tools::protected_files::watch::Breaches;
use crate::tools::{CallPlace, Halt};
pub(in crate::tools) use output::OutputRequest;
use output::OutputTail;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Jobs of one session that may run at once.
pub const MOST_RUNNING: usize = 8;
/// Jobs that are remembered after their end.
const MOST_ENDED: usize = 16;

/// The jobs of one session.
#[derive(Debug)]
pub struct Jobs {
    all: Mutex<Vec<Arc<Job>>>,
    /// Changes taken back from those that go on.
    breaches: Mutex<Vec<String>>,
    shown: watch::Sender<()>,
}

/// One job.
#[derive(Debug)]
struct Job {
    id: String,
    command: String,
    since: At,
    began: Instant,
    stop: CancellationToken,
    state: Mutex<JobState>,
}

#[derive(Debug, Default)]
struct JobState {
    written: OutputTail,
    /// Cause of its end.
    by: EndedBy,
    end: Option<End>,
}

/// End of a job, for the screen and for the model.
#[derive(Clone, Debug)]
struct End {
    shown: JobEnd,
    code: Option<i32>,
    told: String,
    lasted: Duration,
}

impl Default for Jobs {
    fn default() -> Self {
        Self { all: Mutex::default(), breaches: Mutex::default(), shown: watch::Sender::new(()) }
    }
}

fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> At {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    At(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Four letters and digits that cannot be taken for each other.
fn name() -> String {
    const SIGNS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";
    (0..4).map(|_| char::from(SIGNS[fastrand::usize(..SIGNS.len())])).collect()
}

impl Jobs {
    /// Starts a command and comes back with the job's name.
    pub(in crate::tools) async fn start(
        self: &Arc<Self>,
        (place, sandbox): (&CallPlace, Sandbox),
        command: &str,
        line: CommandRun,
        (host, call, stop): (&Arc<dyn Host>, &CallId, &CancellationToken),
    ) -> Result<String, Halt> {
        let room = || match self.list().iter().filter(|job| job.runs()).map(|job| job.id.clone()).collect::<Vec<_>>() {
            running if running.len() < MOST_RUNNING => Ok(()),
            running => Err(format!(
                "{MOST_RUNNING} jobs run already, which is the most: {}. End one with `job_kill`, or wait.",
                running.join(", ")
            )),
        };
        room()?;
        let running = process::start(place, sandbox, line, host, (call, stop)).await?;
        let job = {
            let mut all = locked(&self.all);
            let mut id = name();
            while all.iter().any(|job| job.id == id) {
                id = name();
            }
            let (stop, state) = (CancellationToken::new(), Mutex::default());
            let job = Job { id, command: command.to_owned(), since: now(), began: Instant::now(), stop, state };
            let job = Arc::new(job);
            all.push(job.clone());
            let ended = all.iter().filter(|job| locked(&job.state).end.is_some()).count();
            if let Some(oldest) =
                all.iter().position(|job| locked(&job.state).end.is_some()).filter(|_| ended > MOST_ENDED)
            {
                all.remove(oldest);
            }
            job
        };
        self.shown.send_replace(());
        let (jobs, id) = (self.clone(), job.id.clone());
        let folder = place.clone();
        tokio::spawn(async move {
            let file = output::OutputFile::new(folder, &job.id);
            let breaches = running.breaches();
            let mut taker = OutputSink { job: &job, file, jobs: &jobs, breaches, told: 0 };
            let over = running.see_it_through(&mut taker, &job.stop).await;
            taker.file.close(&job).await;
            job.over(over).await;
            jobs.shown.send_replace(());
        });
        Ok(id)
    }

    /// All that is remembered, in the order in which they were started.
    #[must_use]
    pub fn list(&self) -> Vec<JobShown> {
        let shown = |job: &Arc<Job>| {
            let state = locked(&job.state);
            JobShown {
                id: job.id.clone(),
                command: job.command.clone(),
                since: job.since,
                end: state.end.as_ref().map(|end| end.shown.clone()),
                bytes: state.written.total(),
                last: last_lines(state.written.end()),
            }
        };
        locked(&self.all).iter().map(shown).collect()
    }

    /// Some job goes on.
    #[must_use]
    pub fn any_running(&self) -> bool {
        locked(&self.all).iter().any(|job| locked(&job.state).end.is_none())
    }

    /// Lines about what jobs that go on made of what configures or runs code, which nobody was told of.
    #[must_use]
    pub fn breaches(&self) -> Vec<String> {
        std::mem::take(&mut locked(&self.breaches))
    }

    /// Hears of every change.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<()> {
        self.shown.subscribe()
    }

    /// Ends a job: SIGTERM, and SIGKILL after two seconds, to all that it started. False when there is none of that name.
    pub fn kill(&self, id: &str, by: EndedBy) -> bool {
        let Some(job) = self.find(id) else { return false };
        job.kill(by);
        true
    }

    /// Ends all of them and waits for their end.
    pub async fn end_all(&self) {
        let mut changed = self.watch();
        locked(&self.all).iter().for_each(|job| job.kill(EndedBy::Close));
        while self.any_running() {
            if changed.changed().await.is_err() {
                return;
            }
        }
    }

    fn find(&self, id: &str) -> Option<Arc<Job>> {
        locked(&self.all).iter().find(|job| job.id == id).cloned()
    }

    fn found(&self, id: &str) -> Result<Arc<Job>, String> {
        self.find(id).ok_or_else(|| {
            let names: Vec<String> = self
                .list()
                .iter()
                .map(|job| format!("{} ({})", job.id, crate::tools::input::one_line(&job.command, 40)))
                .collect();
            let id = crate::tools::input::one_line(id, 20);
            match names.as_slice() {
                [] => format!("No job `{id}`: none started in this run of lisle; jobs end with it."),
                names => format!("No job `{id}`. Available: {}.", names.join(", ")),
            }
        })
    }

    /// The new output of a job, as far as it is there; once it has ended, or `until` is in it, or the time is over.
    pub(in crate::tools) async fn read(
        &self,
        id: &str,
        wanted: &OutputRequest,
        stop: &CancellationToken,
    ) -> Result<(String, Option<JobEnd>, Option<i32>), Halt> {
        let job = self.found(id)?;
        let mut changed = self.watch();
        let last_moment = Instant::now() + wanted.wait;
        loop {
            let is_there = {
                let state = locked(&job.state);
                state.end.is_some() || wanted.until.as_deref().is_some_and(|until| state.written.has_new(until))
            };
            if is_there || Instant::now() >= last_moment {
                break;
            }
            tokio::select! {
                () = stop.cancelled() => return Err(crate::tools::RunError::stopped("").into()),
                () = tokio::time::sleep_until(last_moment) => {}
                more = changed.changed() => if more.is_err() { break },
            }
        }
        let mut state = locked(&job.state);
        let mut out = state.written.take(wanted.tail);
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        match &state.end {
            None => out.push_str(&format!("({} goes on, since {} s)", job.id, job.began.elapsed().as_secs())),
            Some(end) => out.push_str(&format!("({} ended after {} s)\n{}", job.id, end.lasted.as_secs(), end.told)),
        }
        let end = state.end.clone();
        Ok((out, end.as_ref().map(|end| end.shown.clone()), end.and_then(|end| end.code)))
    }

    /// Ends a job for the model and waits for its end, which is quick.
    pub(in crate::tools) async fn kill_and_wait(
        &self,
        id: &str,
        stop: &CancellationToken,
    ) -> Result<(String, Option<i32>), Halt> {
        let job = self.found(id)?;
        job.kill(EndedBy::Model);
        let wanted = OutputRequest { wait: crate::sandbox::GRACE + Duration::from_secs(5), ..OutputRequest::default() };
        let (text, _, code) = self.read(id, &wanted, stop).await?;
        Ok((text, code))
    }
}

impl Job {
    fn kill(&self, by: EndedBy) {
        let mut state = locked(&self.state);
        // The first one counts.
        if state.end.is_none() && !self.stop.is_cancelled() {
            state.by = by;
            self.stop.cancel();
        }
    }

    async fn over(&self, over: Over) {
        let (code, well, stopped) = (over.code(), over.is_well(), over.stopped);
        let last = String::from_utf8_lossy(locked(&self.state).written.end()).into_owned();
        let (told, user) = match over.told(last).await {
            Ok(told) => told,
            Err(Halt::Says(sentence)) => (sentence, ForUser::default()),
            Err(Halt::Run(_)) => ("exit unknown".to_owned(), ForUser::default()),
        };
        let mut state = locked(&self.state);
        let words = match (stopped, state.by) {
            (true, EndedBy::Model) => "ended by the agent".to_owned(),
            (true, EndedBy::User) => "ended by you".to_owned(),
            (true, EndedBy::Close) => "ended with the session".to_owned(),
            _ => told.lines().last().unwrap_or("exit unknown").to_owned(),
        };
        let by = if stopped { state.by } else { EndedBy::Itself };
        let shown = JobEnd { at: now(), words, failed: !well && !stopped, by, protected: user.protected };
        state.end = Some(End { shown, code, told, lasted: self.began.elapsed() });
    }
}

/// Takes the output of a job.
struct OutputSink<'a> {
    job: &'a Job,
    file: output::OutputFile,
    jobs: &'a Jobs,
    breaches: Arc<Breaches>,
    told: u64,
}

impl Taker for OutputSink<'_> {
    async fn take(&mut self, bytes: &[u8]) {
        locked(&self.job.state).written.add(bytes);
        if let Some(path) = self.file.add(bytes).await {
            locked(&self.job.state).written.lies_in(path);
        }
    }

    fn tick(&mut self) {
        let total = locked(&self.job.state).written.total();
        let breaches = self.breaches.news();
        let has_news = !breaches.is_empty();
        locked(&self.jobs.breaches).extend(breaches);
        if std::mem::replace(&mut self.told, total) != total || has_news {
            self.jobs.shown.send_replace(());
        }
    }
}

/// Notice for the model that a job has ended, in one sentence.
#[must_use]
pub fn ended(job: &JobShown) -> Option<String> {
    let end = job.end.as_ref()?;
    let seconds = end.at.since(job.since) / 1_000;
    let command = crate::tools::input::one_line(&job.command, 80);
    let how = match end.by {
        EndedBy::User => "stopped by the user".to_owned(),
        EndedBy::Close => "ended with the session".to_owned(),
        EndedBy::Itself | EndedBy::Model => end.words.clone(),
    };
    let size = text::size(job.bytes);
    let mut out = format!("Background job {} (`{command}`) is over after {seconds} s: {how}. It wrote {size}.", job.id);
    if !end.protected.is_empty() {
        out.push_str(&format!(
            " It made or changed what configures or runs code, which is to be asked for first. Tell the user what became of \
             it:\n{}",
            end.protected.join("\n")
        ));
    }
    Some(out)
}

/// File with a job's whole output.
type Whole = Option<PathBuf>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_nothing_is_found_where_nothing_is() {
        assert!(
            (0..100).map(|_| name()).all(|name| name.len() == 4 && name.bytes().all(|b| b.is_ascii_alphanumeric()))
        );
        let jobs = Jobs::default();
        assert!(!jobs.kill("x", EndedBy::User) && !jobs.any_running() && jobs.list().is_empty());
        assert!(jobs.found("x").unwrap_err().contains("jobs end with it"));
    }

    #[test]
    fn the_end_is_one_sentence() {
        let end = |by, words: &str| JobEnd { at: At(3_500), words: words.into(), failed: false, by, protected: vec![] };
        let job = |end| JobShown {
            id: "ab12".into(),
            command: "npm run\ndev".into(),
            since: At(1_000),
            end,
            bytes: 1_250,
            last: String::new(),
        };
        assert_eq!(ended(&job(None)), None);
        for (by, words, says) in [
            (EndedBy::Itself, "exit 1", "is over after 2 s: exit 1. It wrote 1.2 KB."),
            (EndedBy::User, "ended by you", "stopped by the user."),
            (EndedBy::Close, "x", "ended with the session."),
        ] {
            let text = ended(&job(Some(end(by, words)))).unwrap();
            assert!(text.starts_with("Background job ab12 (`npm run dev`)") && text.contains(says), "{text}");
        }
    }
}
