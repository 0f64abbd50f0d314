/**
 * The same frames in the same order mostly leave for many sockets, one after the other: they are joined into one
 * buffer for the first and shared with the others.
 */
export class JoinedRun {
  #frames: Buffer[] = [];
  #joined: Buffer = Buffer.alloc(0);

  /** The frames as one buffer, not to be modified. Takes the list and gives another, empty one for it. */
  join(frames: Buffer[], bytes: number): { joined: Buffer; spare: Buffer[] } {
    if (this.#isLast(frames)) {
      frames.length = 0;
      return { joined: this.#joined, spare: frames };
    }
    const spare = this.#frames;
    spare.length = 0;
    this.#frames = frames;
    this.#joined = Buffer.concat(frames, bytes);
    return { joined: this.#joined, spare };
  }

  #isLast(frames: readonly Buffer[]): boolean {
    if (frames.length !== this.#frames.length) return false;
    for (let i = 0; i < frames.length; i++) if (frames[i] !== this.#frames[i]) return false;
    return true;
  }
}
