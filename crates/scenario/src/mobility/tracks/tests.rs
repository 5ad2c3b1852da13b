use super::*;
use crate::index::UserIndex;

fn position(latitude: f64, longitude: f64) -> Position {
    Position { latitude, longitude }
}

fn at(latitude: f64, longitude: f64) -> Presence {
    Presence::At(position(latitude, longitude))
}

fn fix(seconds: f64, latitude: f64) -> Fix {
    Fix { seconds, position: position(latitude, 0.0) }
}

const SHARED: Resampling = Resampling {
    clock: SamplingTimes::Shared { step_seconds: 10.0, between: BetweenFixes::LastKnown, after: AfterLastFix::Stays },
    clip: None,
    users_max: None,
    steps_max: None,
};

fn two_users() -> Tracks {
    Tracks {
        users: vec![Id::number(1), Id::number(2)],
        fixes: vec![
            vec![fix(105.0, 5.0), fix(130.0, 10.0)],
            // Not in chronological order.
            vec![fix(120.0, 2.0), fix(100.0, 0.0), fix(110.0, 1.0)],
        ],
    }
}

fn clocked(between: BetweenFixes, after: AfterLastFix) -> Resampling {
    Resampling { clock: SamplingTimes::Shared { step_seconds: 10.0, between, after }, ..SHARED }
}

#[test]
fn steps_are_at_the_same_times_for_all_from_the_earliest_fix_on() {
    let trajectories = resample(&two_users(), &SHARED).expect("steps");
    assert_eq!(trajectories.users, [Id::number(2), Id::number(1)], "in the order of their first step");
    let expected = [
        vec![(UserIndex(0), at(0.0, 0.0))],
        vec![(UserIndex(0), at(1.0, 0.0)), (UserIndex(1), at(5.0, 0.0))],
        vec![(UserIndex(0), at(2.0, 0.0))],
        vec![(UserIndex(1), at(10.0, 0.0))],
    ];
    assert_eq!(trajectories.steps, expected);
}

#[test]
fn positions_between_two_fixes_can_be_interpolated() {
    let trajectories =
        resample(&two_users(), &clocked(BetweenFixes::Interpolated, AfterLastFix::Stays)).expect("steps");
    assert_eq!(trajectories.steps[1], [(UserIndex(0), at(1.0, 0.0)), (UserIndex(1), at(6.0, 0.0))]);
    assert_eq!(trajectories.steps[2], [(UserIndex(0), at(2.0, 0.0)), (UserIndex(1), at(8.0, 0.0))]);
    assert_eq!(trajectories.steps[3], [(UserIndex(1), at(10.0, 0.0))]);
}

#[test]
fn users_can_leave_after_the_last_fix() {
    let trajectories = resample(&two_users(), &clocked(BetweenFixes::LastKnown, AfterLastFix::Gone)).expect("steps");
    assert_eq!(trajectories.steps[3], [(UserIndex(0), Presence::Gone), (UserIndex(1), at(10.0, 0.0))]);
    assert_eq!(trajectories.steps.last(), Some(&vec![(UserIndex(1), Presence::Gone)]), "the last to be seen goes, too");
}

#[test]
fn users_and_steps_can_be_limited_and_users_outside_are_absent() {
    let few = resample(&two_users(), &Resampling { users_max: Some(1), steps_max: Some(2), ..SHARED }).expect("steps");
    assert_eq!(few.users, [Id::number(2)]);
    assert_eq!(few.steps, [vec![(UserIndex(0), at(0.0, 0.0))], vec![(UserIndex(0), at(1.0, 0.0))]]);
    let clip = Area::between(position(0.5, -1.0), position(5.5, 1.0));
    let clipped = resample(&two_users(), &Resampling { clip, ..SHARED }).expect("steps");
    assert_eq!(clipped.users, [Id::number(1), Id::number(2)], "who comes into the area first is first");
    assert_eq!(
        clipped.steps,
        [
            vec![],
            vec![(UserIndex(0), at(5.0, 0.0)), (UserIndex(1), at(1.0, 0.0))],
            vec![(UserIndex(1), at(2.0, 0.0))],
            vec![(UserIndex(0), Presence::Gone)]
        ]
    );
    let nowhere = Area::between(position(50.0, 50.0), position(51.0, 51.0));
    assert_eq!(resample(&two_users(), &Resampling { clip: nowhere, ..SHARED }).expect("steps").users, []);
}

#[test]
fn at_their_own_pace_all_users_take_the_same_number_of_steps() {
    let clock = SamplingTimes::OwnPace { parts: 4 };
    let tracks = Tracks {
        users: vec![Id::number(1), Id::number(2), Id::number(3)],
        fixes: vec![
            vec![fix(0.0, 0.0), fix(40.0, 4.0)],
            vec![fix(7.0, 0.0), fix(8.0, 8.0), fix(15.0, 1.0)],
            vec![fix(9.0, 9.0)],
        ],
    };
    let trajectories = resample(&tracks, &Resampling { clock, ..SHARED }).expect("steps");
    let latitudes: Vec<Vec<(u32, f64)>> = trajectories
        .steps
        .iter()
        .map(|step| {
            let latitude = |(user, presence): &(UserIndex, Presence)| match presence {
                Presence::At(position) => (user.0, position.latitude),
                Presence::Gone => panic!("nobody goes"),
            };
            step.iter().map(latitude).collect()
        })
        .collect();
    let expected = [
        vec![(0, 0.0), (1, 0.0), (2, 9.0)],
        vec![(0, 1.0), (1, 8.0)],
        vec![(0, 2.0), (1, 6.0)],
        vec![(0, 3.0), (1, 4.0)],
        vec![(0, 4.0), (1, 1.0)],
    ];
    assert_eq!(latitudes, expected);
}

#[test]
fn rejects_steps_without_length_or_number() {
    let with = |clock| resample(&two_users(), &Resampling { clock, ..SHARED });
    let shared = |step_seconds| SamplingTimes::Shared {
        step_seconds,
        between: BetweenFixes::LastKnown,
        after: AfterLastFix::Stays,
    };
    assert_eq!(with(shared(0.0)), Err(ResamplingError::NoStep));
    assert_eq!(with(shared(f64::NAN)), Err(ResamplingError::NoStep));
    assert_eq!(with(shared(1e-9)), Err(ResamplingError::TooManySteps));
    assert_eq!(with(SamplingTimes::OwnPace { parts: 0 }), Err(ResamplingError::NoStep));
    assert_eq!(with(SamplingTimes::OwnPace { parts: u32::MAX }), Err(ResamplingError::TooManySteps));
    let empty = resample(&Tracks::default(), &SHARED).expect("no steps at all");
    assert_eq!(empty.users, []);
}

#[track_caller]
fn read(format: &TrackFormat, text: &str) -> Tracks {
    read_tracks(text.as_bytes(), format).expect(text)
}

#[test]
fn all_formats_yield_the_same_tracks() {
    let taxi = "156;1970-01-01 01:00:07.5+01;POINT(41.5 12.25)\r\n187;1970-01-01 00:00:09Z;POINT(41 12)\n\n\
                156;1970-01-01 00:00:10;POINT(42.5 12.5)\n";
    let table = "date time,longitude,taxi id,latitude,speed\n7.5,12.25,156,41.5,0\n9,12,187,41,0\n\
                 1970-01-01 00:00:10,12.5,156,42.5,0\n";
    let gpx = "<gpx><metadata><name>m</name><time>2000-01-01T00:00:00Z</time></metadata><trk><name>156</name><trkseg>\
               <trkpt lat='41.5' lon='12.25'><ele>3</ele><time>1970-01-01T00:00:07.5Z</time></trkpt></trkseg><trkseg>\
               <trkpt lat='42.5' lon='12.5'><time>1970-01-01T00:00:10Z</time></trkpt></trkseg></trk>\
               <trk><name>187</name><trkseg><trkpt lat='41' lon='12'><time>1970-01-01T00:00:09Z</time></trkpt></trkseg>\
               </trk></gpx>";
    let sumo = "<fcd-export><timestep time='7.50'><vehicle id='156' x='12.25' y='41.5' speed='3'/></timestep>\
                <timestep time='9'><person id='187' x='12' y='41'/></timestep>\
                <timestep time='10.00'><vehicle id='156' x='12.5' y='42.5'/></timestep></fcd-export>";
    let expected = read(&TrackFormat::Taxi, taxi);
    assert_eq!(expected.users, [Id::number(156), Id::number(187)]);
    let fixes = |latitude, longitude, seconds| Fix { seconds, position: position(latitude, longitude) };
    assert_eq!(expected.fixes[0], [fixes(41.5, 12.25, 7.5), fixes(42.5, 12.5, 10.0)]);
    assert_eq!(read(&TrackFormat::Csv { origin: None }, table), expected);
    assert_eq!(read(&TrackFormat::Gpx { user: None }, gpx), expected);
    assert_eq!(read(&TrackFormat::Sumo(SumoCoordinates::Degrees), sumo), expected);
    let one = read(&TrackFormat::Gpx { user: Some(Id::number(5)) }, gpx);
    assert_eq!((one.users, one.fixes[0].len()), (vec![Id::number(5)], 3));
    let mut both = expected.clone();
    both.append(read(&TrackFormat::Csv { origin: None }, "id,time,lat,lon\n187,20,1,2\nnew,20,1,2\n"));
    assert_eq!((both.users.len(), both.fixes[1].len()), (3, 2));
}

#[test]
fn metres_of_sumo_are_relative_to_the_origin() {
    let origin = position(41.9, 12.5);
    let text = "<fcd-export><timestep time='0'><vehicle id='a' x='300' y='400'/></timestep></fcd-export>";
    let tracks = read(&TrackFormat::Sumo(SumoCoordinates::Metres(origin)), text);
    let distance = tracks.fixes[0][0].position.distance_m(origin);
    assert!((distance - 500.0).abs() < 0.1, "{distance}");
}

#[test]
fn malformed_tracks_are_reported_with_their_place() {
    let gpx = TrackFormat::Gpx { user: None };
    let sumo = TrackFormat::Sumo(SumoCoordinates::Degrees);
    for (format, text, at_fault, message) in [
        (&TrackFormat::Taxi, "", "", "no user"),
        (&TrackFormat::Taxi, "1;2", "1;2", "expected 3 fields, found 2"),
        (&TrackFormat::Taxi, "1;2;POINT(1 2)\n;2;POINT(1 2)", "", "the id of a user"),
        (&TrackFormat::Taxi, "1;noon;POINT(1 2)", "noon", "expected a time"),
        (&TrackFormat::Taxi, "1;2;POINT(1,2)", "POINT(1,2)", "`POINT(latitude longitude)`"),
        (&TrackFormat::Taxi, "1;2;POINT(91 2)", "POINT(91 2)", "expected a latitude"),
        (&TrackFormat::Csv { origin: None }, "id,time,lat\n", "id,time,lat", "no column `longitude`"),
        (&TrackFormat::Csv { origin: None }, "id,time,lat,lon\n1,x,1,2\n", "x", "expected a number of seconds"),
        (&gpx, "<kml/>", "<kml/>", "expected `<gpx>`"),
        (
            &gpx,
            "<gpx><trk><trkseg><trkpt lat='1' lon='2'/></trkseg></trk></gpx>",
            "<trkpt lat='1' lon='2'/>",
            "a `<time>`",
        ),
        (&gpx, "<gpx><trk><trkpt lat='1'/></trk></gpx>", "<trkpt lat='1'/>", "expected a longitude"),
        (&gpx, "<gpx><trk>", "<trk>", "ends before `<trk>` is closed"),
        (&sumo, "<routes/>", "<routes/>", "expected `<fcd-export>`"),
        (
            &sumo,
            "<fcd-export><vehicle id='a' x='1' y='1'/></fcd-export>",
            "<vehicle id='a' x='1' y='1'/>",
            "a `<timestep>`",
        ),
        (&sumo, "<fcd-export><timestep time='x'/></fcd-export>", "<timestep time='x'/>", "a `time` in seconds"),
        (
            &sumo,
            "<fcd-export><timestep time='1'><vehicle id='a' x='900' y='1'/></timestep></fcd-export>",
            "<vehicle id='a' x='900' y='1'/>",
            "--fcd-output.geo",
        ),
    ] {
        let error = read_tracks(text.as_bytes(), format).expect_err(text);
        assert!(error.to_string().contains(message), "{text}\n{error}");
        assert_eq!(&text[error.span], at_fault, "{text}");
    }
}
