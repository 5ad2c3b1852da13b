graph [
  node [
    id 0
    label "cloud"
    capacity "unbounded"
    tier 0
    region "eu"
    access_point 0
  ]
  node [
    id 1
    label "edge one"
    hardware 6
    lat 41.9
    lon 12.5
    price 0.25
    access_point 0
  ]
  node [
    id 2
    label "ap1"
    capacity 1
    latitude 41.91
    longitude 12.51
    access_point 1
    green 1
  ]
  node [
    id 3
    label "7"
    capacity 1
    latitude 41.89
    longitude 12.49
    access_point 1
  ]
  edge [
    source 0
    target 1
    latency 3
    bandwidth 10.5
  ]
  edge [
    source 1
    target 2
    latency 1.5
  ]
  edge [
    source 1
    target 3
  ]
]
