import { DEAD, type ListIndex, recordCount } from "../../src/opportunities/list-index.ts";

/** Reads every slot, and throws if the structure of the index contradicts itself. */
export function checkListIndex(index: ListIndex): void {
  const { end, gap, times, seqs, facets, older, newer, slots, heads, checkpoints, facetEnd } = index;
  const require = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`The list index is broken: ${what}`);
  };
  const newest = new Uint32Array(heads.length);
  let [dead, last, passed] = [0, 0, 0];
  for (let slot = 1; slot <= end; slot++) {
    const checkpoint = checkpoints[passed];
    if (checkpoint?.end === slot) {
      require(slot <= gap.start || slot >= gap.end, `checkpoint ${passed} is in the gap`);
      require(checkpoint.heads.every((head, facet) => head === newest[facet]), `heads of checkpoint ${passed}`);
      require(newest.subarray(checkpoint.heads.length).every((head) => head === 0), `a facet is missing in checkpoint ${passed}`);
      passed++;
    }
    if (slot === end) break;
    const facet = facets[slot] as number;
    const isGap = slot >= gap.start && slot < gap.end;
    require(!isGap || facet === DEAD, `slot ${slot} is in the gap, and not dead`);
    if (!isGap) {
      require((times[slot] as number) >= (times[last] as number), `the time of slot ${slot} is earlier than that of slot ${last}`);
      last = slot;
    }
    require((slots[seqs[slot] as number] === slot) === (facet !== DEAD), `slot ${slot} is dead, or is not the slot of its record`);
    if (facet === DEAD) {
      dead++;
      continue;
    }
    require(facet < facetEnd, `the facet of slot ${slot}`);
    require(older[slot] === newest[facet], `the next older slot of ${slot}`);
    if (older[slot] !== 0) require(newer[older[slot] as number] === slot, `the next newer slot of ${older[slot]}`);
    newest[facet] = slot;
  }
  require(passed === checkpoints.length, "a checkpoint is after the end, or out of order");
  require(heads.every((head, facet) => head === newest[facet]), "heads");
  require(heads.every((head) => head === 0 || newer[head] === 0), "a head has a newer slot");
  require(dead === index.dead, `there are ${dead} dead slots, and ${index.dead} were counted`);
  require(slots.reduce((sum, slot) => sum + (slot === 0 ? 0 : 1), 0) === recordCount(index), "slots by row number");
}

/** Bytes of memory in use. Allocated bytes that were never written to do not count. */
export function bytesInUse(index: ListIndex): number {
  const checkpoints = index.checkpoints.reduce((sum, { heads }) => sum + heads.byteLength, 0);
  return 24 * index.end + 4 * recordCount(index) + index.heads.byteLength + checkpoints;
}
