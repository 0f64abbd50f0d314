import type { NotificationFrame } from './notification.ts';

/** A whole frame: bytes, or a notification that becomes bytes in the run it leaves in. */
export type Frame = Buffer | NotificationFrame;

/** The most bytes of a run. */
export const BATCH_MAX_BYTES = 64 * 1024;

/**
 * Frames that leave together, as one piece of bytes. The same frames in the same order mostly leave for many sockets,
 * one after the other: they are written once and shared. A run is written over the one before, unless that is kept.
 */
export class WriteBatch {
  #frames: Frame[] = [];
  #slab = Buffer.allocUnsafeSlow(BATCH_MAX_BYTES);
  #start = 0;
  #end = 0;
  #joined: Buffer = this.#slab.subarray(0, 0);

  /**
   * Joins frames to a run.
   * @param bytes - of all of them, at most RUN_MAX_BYTES.
   * @returns the run, not to be modified; it stands until the next is joined, or for as long as it is kept.
   */
  join(frames: readonly Frame[], bytes: number): Buffer {
    if (this.#isLast(frames)) return this.#joined;
    if (this.#start + bytes > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(BATCH_MAX_BYTES);
      this.#start = 0;
    }
    this.#end = this.#start;
    this.#frames.length = 0;
    for (const frame of frames) this.#add(frame);
    this.#joined = this.#slab.subarray(this.#start, this.#end);
    return this.#joined;
  }

  /** The last run is not written over: somebody has not read all of it. */
  retain(): void {
    this.#start = this.#end;
  }

  #add(frame: Frame): void {
    this.#frames.push(frame);
    if (frame instanceof Uint8Array) this.#slab.set(frame, this.#end);
    else frame.write(this.#slab, this.#end);
    this.#end += frame.length;
  }

  #isLast(frames: readonly Frame[]): boolean {
    if (frames.length !== this.#frames.length) return false;
    for (let i = 0; i < frames.length; i++) if (frames[i] !== this.#frames[i]) return false;
    return true;
  }
}
