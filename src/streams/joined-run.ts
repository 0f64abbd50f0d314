/** Buffers of up to this many bytes come from Node's pool; larger ones cost more to make than a joined write saves. */
const POOLED_MAX_BYTES = 4095;

/**
 * The same frames in the same order mostly leave for many sockets, one after the other: they are joined into one
 * buffer and shared. Long runs are joined when a second socket sends them.
 */
export class JoinedRun {
  #frames: Buffer[] = [];
  #joined: Buffer | null = null;

  /**
   * Takes the list of frames, and gives another, empty one for it.
   * @returns `joined`: the frames as one buffer, not to be modified; null when sending them one by one is cheaper.
   */
  join(frames: Buffer[], bytes: number): { joined: Buffer | null; spare: Buffer[] } {
    if (this.#isLast(frames)) {
      this.#joined ??= Buffer.concat(this.#frames, bytes);
      frames.length = 0;
      return { joined: this.#joined, spare: frames };
    }
    const spare = this.#frames;
    spare.length = 0;
    this.#frames = frames;
    this.#joined = bytes <= POOLED_MAX_BYTES ? Buffer.concat(frames, bytes) : null;
    return { joined: this.#joined, spare };
  }

  #isLast(frames: readonly Buffer[]): boolean {
    if (frames.length !== this.#frames.length) return false;
    for (let i = 0; i < frames.length; i++) if (frames[i] !== this.#frames[i]) return false;
    return true;
  }
}
