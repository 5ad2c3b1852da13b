//! Recorded movements of users.

use mario_scenario::Position;
use mario_scenario::mobility::{
    AfterLastFix, BetweenFixes, Resampling, SamplingTimes, SumoCoordinates, TrackFormat, read_positions, read_tracks,
    resample,
};

use super::{Outcome, Target};

/// Reads bytes as tracks in each format, and as positions in each step.
pub(super) const TRACKS: Target = Target {
    name: "tracks",
    reads: "tracks as lines of taxis, CSV, GPX or SUMO, and positions step by step",
    run: tracks,
    seeds: || SEEDS.map(|seed| seed.as_bytes().to_vec()).into(),
    pieces: &[
        "<trkpt lat='1' lon='2'>",
        "<timestep time='-1'>",
        "POINT(",
        "2014-02-30 25:00:00",
        ";",
        "\"",
        "&lt;",
        "latitude",
        "1e300",
    ],
    inputs: 5_000,
};

const SEEDS: [&str; 6] = [
    "156;2014-02-01 00:00:00.739166+01;POINT(41.8836 12.4877)\n7;2014-02-01 00:00:09+01;POINT(41 12)\n",
    "taxi id,date time,latitude,longitude\n156,2014-02-01 00:00:01,41.88,12.48\n\"1\"\"x\",5,1,2\n",
    "<gpx><trk><name>a&amp;b</name><trkseg><trkpt lat='1' lon='2'><time>2014-02-01T00:00:00Z</time></trkpt></trkseg></trk></gpx>",
    "<fcd-export><timestep time='1'><vehicle id='a' x='9' y='1'/></timestep></fcd-export>",
    "user,step,latitude,longitude\nann,0,41.9,12.5\nann,1,41.8,12.4\n",
    "user,time,x,y\nann,0,10,20\nann,30,40,50\n",
];

fn tracks(bytes: &[u8]) -> Outcome {
    let origin = Position { latitude: 41.0, longitude: 12.0 };
    let formats = [
        TrackFormat::Taxi,
        TrackFormat::Csv { origin: None },
        TrackFormat::Csv { origin: Some(origin) },
        TrackFormat::Gpx { user: None },
        TrackFormat::Sumo(SumoCoordinates::Degrees),
        TrackFormat::Sumo(SumoCoordinates::Metres(origin)),
    ];
    let shared =
        SamplingTimes::Shared { step_seconds: 10.0, between: BetweenFixes::LastKnown, after: AfterLastFix::Stays };
    let mut is_accepted = read_positions(bytes, Some(origin)).is_ok();
    for format in &formats {
        match read_tracks(bytes, format) {
            Ok(tracks) => {
                is_accepted = true;
                for clock in [shared, SamplingTimes::OwnPace { parts: 100 }] {
                    // Errors are allowed here: a track may be too short or too long to be resampled.
                    let _ =
                        resample(&tracks, &Resampling { clock, clip: None, users_max: None, steps_max: Some(10_000) });
                }
            }
            Err(error) => {
                assert!(
                    error.span.start <= error.span.end && error.span.end <= bytes.len(),
                    "{error:?} is beyond the file"
                );
            }
        }
    }
    Outcome::of(is_accepted)
}
