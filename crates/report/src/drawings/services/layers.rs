//! The layout of an acyclic graph in layers: the layer of each box, the order within layers, and vertical positions.

/// The number of passes over the layers, both for the order of slots and for their positions.
const SWEEPS: usize = 8;

/// What takes room in a layer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// A box, by its index.
    Box(usize),
    /// An arrow that passes the layer, by its index.
    Pass(usize),
}

/// The layers, from left to right.
pub(super) struct Layers {
    /// The layer of each box.
    pub(super) layer_of: Vec<usize>,
    /// The slots of each layer, from the top.
    pub(super) slots: Vec<Vec<Slot>>,
    /// For each slot of each layer, the indices of the slots in the next layer that it is connected to.
    links: Vec<Vec<Vec<usize>>>,
}

impl Layers {
    /// Puts each box right of everything that has an arrow to it. Returns `None` if arrows form a cycle.
    pub(super) fn new(boxes: usize, arrows: &[[usize; 2]]) -> Option<Layers> {
        let layer_of = layers_of(boxes, arrows)?;
        let count = layer_of.iter().max().map_or(0, |last| last + 1);
        let mut slots: Vec<Vec<Slot>> = vec![Vec::new(); count];
        for (place, layer) in layer_of.iter().enumerate() {
            slots[*layer].push(Slot::Box(place));
        }
        for (arrow, [from, to]) in arrows.iter().enumerate() {
            for slots in &mut slots[layer_of[*from] + 1..layer_of[*to]] {
                slots.push(Slot::Pass(arrow));
            }
        }
        let mut layers = Layers { layer_of, slots, links: Vec::new() };
        layers.connect(arrows);
        for sweep in 0..SWEEPS {
            layers.sort(sweep % 2 == 0);
            layers.connect(arrows);
        }
        Some(layers)
    }

    /// Computes the links between adjacent layers.
    fn connect(&mut self, arrows: &[[usize; 2]]) {
        let find = |layer: usize, slot: &Slot| self.slots[layer].iter().position(|other| other == slot);
        let mut links: Vec<Vec<Vec<usize>>> = self.slots.iter().map(|slots| vec![Vec::new(); slots.len()]).collect();
        for (arrow, [from, to]) in arrows.iter().enumerate() {
            let (first, last) = (self.layer_of[*from], self.layer_of[*to]);
            let slot_in = |layer: usize| match layer {
                layer if layer == first => Slot::Box(*from),
                layer if layer == last => Slot::Box(*to),
                _ => Slot::Pass(arrow),
            };
            for (layer, links) in links.iter_mut().enumerate().take(last).skip(first) {
                if let (Some(here), Some(next)) = (find(layer, &slot_in(layer)), find(layer + 1, &slot_in(layer + 1))) {
                    links[here].push(next);
                }
            }
        }
        self.links = links;
    }

    /// The indices of the slots that a slot is connected to: in the layer before it with `before`, otherwise in the
    /// layer after it.
    fn neighbours(&self, layer: usize, place: usize, before: bool) -> Vec<usize> {
        if !before {
            return self.links[layer][place].clone();
        }
        let Some(previous) = layer.checked_sub(1) else { return Vec::new() };
        let links = self.links[previous].iter().enumerate();
        links.flat_map(|(other, next)| next.iter().filter(|next| **next == place).map(move |_| other)).collect()
    }

    /// Sorts the slots of each layer by the mean index of their neighbours, to reduce crossings (barycentre heuristic).
    /// The neighbours are those in the layer before it with `before`, otherwise those in the layer after it. A slot
    /// without such neighbours is sorted by its own index.
    fn sort(&mut self, before: bool) {
        let layers: Vec<usize> = if before {
            (1..self.slots.len()).collect()
        } else {
            (0..self.slots.len().saturating_sub(1)).rev().collect()
        };
        // Maps the old index of each slot, which `links` uses, to the new one.
        let mut moved: Vec<Vec<usize>> = self.slots.iter().map(|slots| (0..slots.len()).collect()).collect();
        for layer in layers {
            let other = if before { layer - 1 } else { layer + 1 };
            let key = |place: usize| {
                let neighbours = self.neighbours(layer, place, before);
                let sum: usize = neighbours.iter().map(|neighbour| moved[other][*neighbour]).sum();
                if neighbours.is_empty() { place as f64 } else { sum as f64 / neighbours.len() as f64 }
            };
            let mut order: Vec<(f64, usize)> = (0..self.slots[layer].len()).map(|place| (key(place), place)).collect();
            // The sort is stable: equal keys keep their order.
            order.sort_by(|one, other| one.0.total_cmp(&other.0));
            for (new, (_, old)) in order.iter().enumerate() {
                moved[layer][*old] = new;
            }
        }
        for (slots, moved) in self.slots.iter_mut().zip(&moved) {
            let mut sorted: Vec<(usize, Slot)> = moved.iter().copied().zip(std::mem::take(slots)).collect();
            sorted.sort_by_key(|(new, _)| *new);
            *slots = sorted.into_iter().map(|(_, slot)| slot).collect();
        }
    }

    /// The y coordinate of the middle of each slot, near those of its neighbours, with at least `space` between slots.
    /// The top of the highest slot is at 0.
    pub(super) fn middles(&self, height_of: impl Fn(&Slot) -> f64, space: f64) -> Vec<Vec<f64>> {
        let heights: Vec<Vec<f64>> = self.slots.iter().map(|slots| slots.iter().map(&height_of).collect()).collect();
        let mut middles: Vec<Vec<f64>> =
            heights.iter().map(|heights| apart(&vec![0.0; heights.len()], heights, space)).collect();
        for sweep in 0..SWEEPS {
            let before = sweep % 2 == 0;
            let all = 0..self.slots.len();
            let layers: Vec<usize> = if before { all.collect() } else { all.rev().collect() };
            for layer in layers {
                let wanted = |place: usize| {
                    let other = if before { layer.saturating_sub(1) } else { layer + 1 };
                    let neighbours = self.neighbours(layer, place, before);
                    let sum: f64 = neighbours.iter().map(|neighbour| middles[other][*neighbour]).sum();
                    if neighbours.is_empty() { middles[layer][place] } else { sum / neighbours.len() as f64 }
                };
                let wanted: Vec<f64> = (0..middles[layer].len()).map(wanted).collect();
                middles[layer] = apart(&wanted, &heights[layer], space);
            }
        }
        let tops = middles
            .iter()
            .zip(&heights)
            .flat_map(|(middles, heights)| middles.iter().zip(heights).map(|(middle, height)| middle - height / 2.0));
        let top = tops.fold(f64::INFINITY, f64::min);
        middles.into_iter().map(|layer| layer.into_iter().map(|middle| middle - top).collect()).collect()
    }
}

/// The number of arrows on the longest path to each box; `None` if arrows form a cycle.
fn layers_of(boxes: usize, arrows: &[[usize; 2]]) -> Option<Vec<usize>> {
    let mut waiting = vec![0; boxes];
    arrows.iter().for_each(|[_, to]| waiting[*to] += 1);
    let mut ready: Vec<usize> = (0..boxes).filter(|place| waiting[*place] == 0).collect();
    let mut layer_of = vec![0; boxes];
    let mut done = 0;
    while let Some(place) = ready.pop() {
        done += 1;
        for [_, to] in arrows.iter().filter(|[from, _]| *from == place) {
            layer_of[*to] = layer_of[*to].max(layer_of[place] + 1);
            waiting[*to] -= 1;
            if waiting[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    (done == boxes).then_some(layer_of)
}

/// Returns the middles of slots, in the same order, with at least `space` between slots. The mean of the middles is
/// that of the wanted ones.
fn apart(wanted: &[f64], heights: &[f64], space: f64) -> Vec<f64> {
    let mut middles: Vec<f64> = Vec::with_capacity(wanted.len());
    let mut floor = f64::NEG_INFINITY;
    for (wanted, height) in wanted.iter().zip(heights) {
        let middle = wanted.max(floor + height / 2.0);
        floor = middle + height / 2.0 + space;
        middles.push(middle);
    }
    let shift = |middles: &[f64]| {
        let moved: f64 = middles.iter().zip(wanted).map(|(middle, wanted)| middle - wanted).sum();
        moved / middles.len().max(1) as f64
    };
    let by = shift(&middles);
    middles.into_iter().map(|middle| middle - by).collect()
}
