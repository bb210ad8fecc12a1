//! Points, tried by several workers at once, and what came of them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::classes::Class;

/// What came of a point.
pub enum Outcome {
    /// The fault happened, and what must hold held.
    Held,
    /// The run never came to this point: some calls are made more often at one time than at another.
    Missed,
}

/// How many points were tried, and which did not hold.
#[derive(Default)]
pub struct Tally {
    tried: usize,
    broken: Vec<String>,
}

impl Tally {
    /// Tries every point, each worker in a world of its own. A point that panics is broken, and its world left behind.
    pub fn of<P: Sync, W>(
        points: &[P],
        name: impl Fn(&P) -> String + Sync,
        world: impl Fn() -> W + Sync,
        attempt: impl Fn(&W, &P) -> Outcome + Sync,
    ) -> Self {
        let (next, tally) = (AtomicUsize::new(0), Mutex::new(Self::default()));
        let workers = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8) * 3 / 2;
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    let mut own = world();
                    while let Some(point) = points.get(next.fetch_add(1, Ordering::SeqCst)) {
                        match catch_unwind(AssertUnwindSafe(|| attempt(&own, point))) {
                            Ok(Outcome::Held) => tally.lock().unwrap().add(None),
                            Ok(Outcome::Missed) => {}
                            Err(why) => {
                                tally.lock().unwrap().add(Some(format!("{}: {}", name(point), words(&*why))));
                                own = world();
                            }
                        }
                    }
                });
            }
        });
        tally.into_inner().unwrap()
    }

    /// Tries cases that each make a world of their own, all at once: they mostly wait.
    pub fn of_cases(cases: &[(&str, fn())]) -> Self {
        let tally = Mutex::new(Self::default());
        std::thread::scope(|scope| {
            for (name, case) in cases {
                let tally = &tally;
                scope.spawn(move || {
                    let broken = catch_unwind(case).err().map(|why| format!("{name}: {}", words(&*why)));
                    tally.lock().unwrap().add(broken);
                });
            }
        });
        tally.into_inner().unwrap()
    }

    /// Adds what another has counted.
    pub fn join(&mut self, other: Self) {
        self.tried += other.tried;
        self.broken.extend(other.broken);
    }

    /// Counts one point.
    pub fn add(&mut self, broken: Option<String>) {
        self.tried += 1;
        self.broken.extend(broken);
    }

    /// Says what came of all of them, and fails where one did not hold or too few were tried.
    #[track_caller]
    pub fn tell(self, class: &Class) {
        let held = self.tried - self.broken.len();
        println!("FAULTS: {}: {} tried, {held} held", class.name, self.tried);
        let Class { done, holds, .. } = class;
        assert!(self.broken.is_empty(), "{done}; it does not hold that {holds}:\n{}", self.broken.join("\n"));
        assert!(self.tried >= class.at_least, "{} tried, {} are promised", self.tried, class.at_least);
    }
}

/// What a panic said.
pub fn words(why: &(dyn Any + Send)) -> String {
    let text = why.downcast_ref::<String>().cloned();
    text.or_else(|| why.downcast_ref::<&str>().map(|&text| text.to_owned())).unwrap_or_default()
}
