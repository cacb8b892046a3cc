//! Selection and sorting with the order of equal elements that the GNU C++ library produces.
//!
//! PyTorch's `topk` (like `mode`) sorts values with their indices by value alone; the index of equal values is
//! determined by the steps of `std::nth_element`, `std::partial_sort` and `std::sort`. These are the same textbook
//! algorithms (introselect, heap selection, introsort; Musser 1997) with the same pivots and stopping rules, so that
//! indices, and with them gradients, agree.

/// Ranges up to this length are left to insertion sort.
const SORT_THRESHOLD: usize = 16;

/// Number of partitions of a range of this length before a heap takes over.
fn depth_limit(len: usize) -> u32 {
    2 * len.max(1).ilog2()
}

/// Puts the element that sorting would put at `nth` there, none greater before it and none less behind it.
pub(crate) fn nth_element<T: Copy>(items: &mut [T], nth: usize, less: &impl Fn(&T, &T) -> bool) {
    let (mut first, mut last, mut depth) = (0, items.len(), depth_limit(items.len()));
    if nth >= last {
        return;
    }
    while last - first > 3 {
        if depth == 0 {
            heap_select(&mut items[first..last], nth + 1 - first, less);
            items.swap(first, nth);
            return;
        }
        depth -= 1;
        let cut = first + partition(&mut items[first..last], less);
        if cut <= nth { first = cut } else { last = cut }
    }
    insertion_sort(&mut items[first..last], less);
}

/// Like [`nth_element`], with the steps of PyTorch's `kthvalue`: partitions around the median of the first, the middle
/// and the last element (Sedgewick's quickselect).
pub(crate) fn quick_select<T: Copy>(items: &mut [T], nth: usize, greater: &impl Fn(&T, &T) -> bool) {
    if items.is_empty() {
        return;
    }
    let order = |items: &mut [T], first: usize, second: usize| {
        if greater(&items[first], &items[second]) {
            items.swap(first, second);
        }
    };
    let (mut left, mut right) = (0, items.len() - 1);
    while left < right {
        if right == left + 1 {
            order(items, left, right);
            return;
        }
        items.swap(left + (right - left) / 2, left + 1);
        // The median comes first, the ends act as sentinels.
        order(items, left + 1, right);
        order(items, left, right);
        order(items, left + 1, left);
        let pivot = items[left];
        let (mut low, mut high) = (left + 1, right);
        loop {
            low += 1;
            while greater(&pivot, &items[low]) {
                low += 1;
            }
            high -= 1;
            while greater(&items[high], &pivot) {
                high -= 1;
            }
            if high < low {
                break;
            }
            items.swap(low, high);
        }
        items.swap(left, high);
        if high <= nth {
            left = low;
        }
        if high >= nth {
            right = high - 1;
        }
    }
}

/// Sorts the `middle` least elements to the front.
pub(crate) fn partial_sort<T: Copy>(items: &mut [T], middle: usize, less: &impl Fn(&T, &T) -> bool) {
    heap_select(items, middle, less);
    for end in (1..middle).rev() {
        pop_heap(items, end, end, less);
    }
}

/// Sorts; not stable.
pub(crate) fn sort<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    sort_loop(items, depth_limit(items.len()), less);
    let guarded = items.len().min(SORT_THRESHOLD);
    insertion_sort(&mut items[..guarded], less);
    // The least element is among the first by now: it stops every later insertion.
    for at in guarded..items.len() {
        insert(items, at, less);
    }
}

fn sort_loop<T: Copy>(items: &mut [T], mut depth: u32, less: &impl Fn(&T, &T) -> bool) {
    let mut last = items.len();
    while last > SORT_THRESHOLD {
        if depth == 0 {
            partial_sort(&mut items[..last], last, less);
            return;
        }
        depth -= 1;
        let cut = partition(&mut items[..last], less);
        sort_loop(&mut items[cut..last], depth, less);
        last = cut;
    }
}

/// Partitions around the median of the second, the middle and the last element; returns where the upper
/// part begins.
fn partition<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) -> usize {
    let (a, b, c) = (1, items.len() / 2, items.len() - 1);
    let median = match (less(&items[a], &items[b]), less(&items[b], &items[c]), less(&items[a], &items[c])) {
        (true, true, _) | (false, false, false) => b,
        (true, false, true) | (false, true, false) => c,
        (true, false, false) | (false, _, true) => a,
    };
    items.swap(0, median);
    let pivot = items[0];
    let (mut low, mut high) = (1, items.len());
    loop {
        while less(&items[low], &pivot) {
            low += 1;
        }
        high -= 1;
        while less(&pivot, &items[high]) {
            high -= 1;
        }
        if low >= high {
            return low;
        }
        items.swap(low, high);
        low += 1;
    }
}

fn insertion_sort<T: Copy>(items: &mut [T], less: &impl Fn(&T, &T) -> bool) {
    for at in 1..items.len() {
        insert(items, at, less);
    }
}

/// Moves the element at `at` down behind the last one that is not greater.
fn insert<T: Copy>(items: &mut [T], at: usize, less: &impl Fn(&T, &T) -> bool) {
    let item = items[at];
    let mut hole = at;
    while hole > 0 && less(&item, &items[hole - 1]) {
        items[hole] = items[hole - 1];
        hole -= 1;
    }
    items[hole] = item;
}

/// Makes the first `middle` elements a heap of the least ones, the greatest of them on top.
fn heap_select<T: Copy>(items: &mut [T], middle: usize, less: &impl Fn(&T, &T) -> bool) {
    for parent in (0..middle / 2).rev() {
        let item = items[parent];
        sift(items, parent, middle, item, less);
    }
    for at in middle..items.len() {
        if middle > 0 && less(&items[at], &items[0]) {
            pop_heap(items, middle, at, less);
        }
    }
}

/// Moves the top of the heap in `..len` to `at`, and the element there into the heap.
fn pop_heap<T: Copy>(items: &mut [T], len: usize, at: usize, less: &impl Fn(&T, &T) -> bool) {
    let item = items[at];
    items[at] = items[0];
    sift(items, 0, len, item, less);
}

/// Fills the hole at `top` of the heap in `..len`: greater children move up to the bottom, then `item`
/// climbs from there.
fn sift<T: Copy>(items: &mut [T], top: usize, len: usize, item: T, less: &impl Fn(&T, &T) -> bool) {
    let mut hole = top;
    loop {
        let right = 2 * hole + 2;
        if right < len {
            let child = if less(&items[right], &items[right - 1]) { right - 1 } else { right };
            items[hole] = items[child];
            hole = child;
        } else {
            if right == len {
                items[hole] = items[right - 1];
                hole = right - 1;
            }
            break;
        }
    }
    while hole > top && less(&items[(hole - 1) / 2], &item) {
        items[hole] = items[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    items[hole] = item;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize, range: u32) -> Vec<u32> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % range
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn every_length_is_sorted_and_selected() {
        for count in 0..200 {
            let items = numbers(count, 20);
            let mut expected = items.clone();
            expected.sort_unstable();
            let mut sorted = items.clone();
            sort(&mut sorted, &|a, b| a < b);
            assert_eq!(sorted, expected);
            for k in 0..count {
                let mut part = items.clone();
                partial_sort(&mut part, k, &|a, b| a < b);
                assert_eq!(part[..k], expected[..k]);
                let mut selected = items.clone();
                nth_element(&mut selected, k, &|a, b| a < b);
                assert_eq!(selected[k], expected[k]);
                assert!(selected[..k].iter().all(|item| *item <= expected[k]));
                let mut selected = items.clone();
                quick_select(&mut selected, k, &|a, b| a > b);
                assert_eq!(selected[k], expected[k]);
            }
        }
    }

    #[test]
    fn adversarial_orders_end() {
        let mut organ_pipe: Vec<usize> = (0..1000).chain((0..1000).rev()).collect();
        sort(&mut organ_pipe, &|a, b| a < b);
        assert!(organ_pipe.is_sorted());
    }
}
