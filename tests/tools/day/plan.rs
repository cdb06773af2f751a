//! A day of N actors, once as a list of reconciles in order and once as arithmetic.
//!
//! Nothing is random: what an actor does in an hour is decided by a hash of both.

/// How many of a hundred actors wake up in each hour of the day: four times a day each, in the mean.
pub const WAKE: [u64; 24] = [4, 3, 3, 3, 4, 6, 10, 18, 26, 30, 32, 30, 26, 28, 32, 30, 26, 22, 18, 14, 12, 10, 8, 5];
/// How long an actor stays awake, in seconds: its messages, and KEDA's cooldown.
pub const AWAKE: u64 = 900;
/// How long a pod takes to get ready, in seconds.
pub const POD: u64 = 40;
/// How often KEDA asks the queue of an actor, in seconds.
pub const KEDA: u64 = 30;
/// When a flavor is edited, in seconds since midnight.
pub const EDITS: [u64; 2] = [10 * HOUR + 1800, 16 * HOUR + 1800];
/// One actor of so many lists the flavor that is edited.
pub const LISTED: u64 = 4;
/// One actor of so many is made anew in an hour.
pub const MADE: u64 = 1000;

pub const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// What makes Crossplane look at an actor besides its timer; each has all of those before it.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, clap::ValueEnum)]
pub enum Watches {
    /// Nothing: realtime compositions are off.
    None,
    /// Realtime compositions; provider-kubernetes looks at what it made every ten minutes.
    Realtime,
    /// The provider has --enable-watches, so every change of a Deployment counts; Crossplane watches EnvironmentConfigs.
    Provider,
    /// `keda.watch` as well: every write of KEDA to the ScaledObject of an actor that is awake counts.
    Keda,
}

impl Watches {
    pub const ALL: [Self; 4] = [Self::None, Self::Realtime, Self::Provider, Self::Keda];

    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Realtime => "realtime",
            Self::Provider => "provider",
            Self::Keda => "keda",
        }
    }

    /// When an actor is looked at that wakes up and later naps, in seconds since it woke up, in order.
    fn cycle(self) -> Vec<u64> {
        let mut looks = match self {
            Self::None => vec![],
            // The provider finds one state of each, when it polls.
            Self::Realtime => vec![POD, AWAKE],
            // Replicas are asked for, the pod is made, the pod is ready; none are asked for, none are left.
            Self::Provider | Self::Keda => vec![0, 2, POD, AWAKE, AWAKE + 5],
        };
        if self == Self::Keda {
            looks.extend((1..AWAKE / KEDA).map(|poll| poll * KEDA));
            looks.sort_unstable();
        }
        looks
    }

    /// When an actor is looked at whose flavor was edited, in seconds since then.
    fn edit(self) -> &'static [u64] {
        match self {
            // The next timer sees it.
            Self::None => &[],
            // And the providers write to what changed.
            Self::Realtime => &[5, 10],
            Self::Provider | Self::Keda => &[0, 2, 5, 10],
        }
    }
}

/// When a new actor is looked at, in seconds since it was made: its queue, account, scaling and pod come one by one.
const MAKING: [(u64, Look); 5] =
    [(0, Look::New), (2, Look::New), (10, Look::Waking), (12, Look::Waking), (POD, Look::Ready)];

/// How an actor is when it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    New,
    Waking,
    Ready,
    Napping,
}

/// One reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reconcile {
    /// Seconds since midnight.
    pub at: u64,
    pub actor: u64,
    pub look: Look,
}

/// Who is there, and how often Crossplane looks at them.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub actors: u64,
    /// In seconds.
    pub ttl: u64,
    pub watches: Watches,
}

impl Plan {
    /// The reconciles of an hour in order, each `sample`-th of them.
    pub fn hour(self, hour: u64, sample: u64) -> impl Iterator<Item = Reconcile> {
        let mut woken = self.woken(hour).into_iter().peekable();
        let timed = (hour * HOUR..(hour + 1) * HOUR)
            .flat_map(move |at| (at % self.ttl..self.actors).step_by(self.ttl as usize).map(move |actor| (at, actor)));
        let mut timed = timed.peekable();
        let all = std::iter::from_fn(move || match (timed.peek(), woken.peek()) {
            (Some(&(at, _)), Some(event)) if event.at <= at => woken.next().map(Ok),
            (Some(_), _) => timed.next().map(Err),
            (None, _) => woken.next().map(Ok),
        });
        all.step_by(sample as usize).map(|next| match next {
            Ok(event) => event,
            Err((at, actor)) => Reconcile { at, actor, look: state(actor, at) },
        })
    }

    /// What is looked at within an hour for another reason than the timer, in order.
    fn woken(self, hour: u64) -> Vec<Reconcile> {
        let mut all = Vec::new();
        let (from, to) = (hour * HOUR, (hour + 1) * HOUR);
        let mut add = |at: u64, actor: u64, look: Option<Look>| {
            if (from..to).contains(&at) {
                all.push(Reconcile { at, actor, look: look.unwrap_or_else(|| state(actor, at)) });
            }
        };
        let cycle = self.watches.cycle();
        for actor in 0..self.actors {
            // What began an hour ago may reach into this one.
            for began in [(hour + 23) % 24, hour] {
                if let Some(woke) = wakes(actor, began) {
                    cycle.iter().for_each(|after| add((woke + after) % DAY, actor, None));
                }
                if hash(actor, began + 100).is_multiple_of(MADE) {
                    let made = began * HOUR + hash(actor, began + 200) % HOUR;
                    MAKING.iter().for_each(|(after, look)| add((made + after) % DAY, actor, Some(*look)));
                }
            }
            for edit in EDITS.iter().filter(|_| actor.is_multiple_of(LISTED)) {
                self.watches.edit().iter().for_each(|after| add(edit + after, actor, None));
            }
        }
        all.sort_unstable();
        all
    }

    /// How many reconciles an hour has, in the mean of a day.
    pub fn per_hour(self) -> f64 {
        self.actors as f64 * (HOUR as f64 / self.ttl as f64 + self.woken_per_hour())
    }

    /// The same of the busiest hour.
    pub fn busiest(self) -> f64 {
        let mean = WAKE.iter().sum::<u64>() as f64 / 24.0;
        let most = WAKE.iter().copied().max().unwrap_or_default() as f64;
        let cycles = self.watches.cycle().len() as f64 * (most - mean) / 100.0;
        let edits = self.watches.edit().len() as f64 / LISTED as f64 * (1.0 - EDITS.len() as f64 / 24.0);
        self.per_hour() + self.actors as f64 * (cycles + edits)
    }

    fn woken_per_hour(self) -> f64 {
        let cycles = self.watches.cycle().len() as f64 * WAKE.iter().sum::<u64>() as f64 / 100.0 / 24.0;
        let edits = self.watches.edit().len() as f64 * EDITS.len() as f64 / LISTED as f64 / 24.0;
        cycles + edits + MAKING.len() as f64 / MADE as f64
    }
}

/// When an actor wakes up in an hour of the day, if it does.
fn wakes(actor: u64, hour: u64) -> Option<u64> {
    let wakes = hash(actor, hour) % 100 < WAKE[hour as usize];
    wakes.then(|| hour * HOUR + hash(actor, hour + 50) % HOUR)
}

/// How an actor is at a time of the day.
fn state(actor: u64, at: u64) -> Look {
    let hour = at / HOUR;
    let since = |hour: u64| wakes(actor, hour).map(|woke| (at + DAY - woke) % DAY);
    let since = [hour, (hour + 23) % 24].into_iter().filter_map(since).min();
    match since {
        Some(since) if since < POD => Look::Waking,
        Some(since) if since < AWAKE => Look::Ready,
        _ => Look::Napping,
    }
}

/// The same for the same two numbers, and like chance for others (SplitMix64).
fn hash(actor: u64, salt: u64) -> u64 {
    let mut mixed = (actor << 10 | salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        mixed = (mixed ^ (mixed >> 29)).wrapping_mul(factor);
    }
    mixed ^ (mixed >> 32)
}
