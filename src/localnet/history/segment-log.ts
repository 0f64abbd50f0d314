import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';
import { FRAME_HEAD_BYTES, framed, hasFrameAfter, payloadAt } from './frame.ts';

/** Where a record lies: in which segment, named by its first slot, and where in it. */
export type RecordPosition = Readonly<{ segment: number; offset: number; length: number }>;

/** The log is damaged where a crash cannot have damaged it. */
export class CorruptLog extends Error {
  override readonly name = 'CorruptLog';
}

const SUFFIX = '.log';
const fileName = (segment: number): string => `${String(segment).padStart(12, '0')}${SUFFIX}`;

/** Files kept open for reading. */
const OPEN_READERS_MAX = 16;

/**
 * An append-only log of records, one per slot, in segment files. What was appended survives the death of the
 * process at once, and the death of the machine once `durableSlot` has reached it: `fdatasync` runs behind the
 * appends, one call for all that came meanwhile.
 */
export class SegmentLog {
  readonly #dir: string;
  readonly #onFailure: (error: Error) => void;
  readonly #readers = new Map<number, number>();
  #segments: number[];
  #fd: number | null = null;
  #size = 0;
  #written: number;
  #durable: number;
  #syncing = false;
  #failure: Error | null = null;
  #idle: (() => void)[] = [];

  /** @param onFailure - hears of a write that the disk refused; the log takes no more after it. */
  constructor(dir: string, onFailure: (error: Error) => void) {
    makeFolder(dir);
    this.#dir = dir;
    this.#onFailure = onFailure;
    this.#segments = readdirSync(dir)
      .filter((name) => /^\d{12}\.log$/.test(name))
      .map((name) => Number(name.slice(0, -SUFFIX.length)))
      .sort((a, b) => a - b);
    this.#written = -1;
    this.#durable = -1;
  }

  /** First slots of the segments, ascending. */
  get segments(): readonly number[] {
    return this.#segments;
  }

  /** Bytes of the segment that grows. */
  get segmentBytes(): number {
    return this.#size;
  }

  /** Highest slot that the death of the machine cannot take back; -1 for none. */
  get durableSlot(): number {
    return this.#durable;
  }

  /** The first write that the disk refused; the log takes no more after it. */
  get failure(): Error | null {
    return this.#failure;
  }

  /**
   * Walks the records of a segment, in order. In the last segment, an unfinished record at the end is cut off:
   * it was being written when the process or the machine died.
   * @throws CorruptLog when a record is damaged and others follow it.
   */
  *scan(segment: number): IterableIterator<readonly [Uint8Array, RecordPosition]> {
    const path = join(this.#dir, fileName(segment));
    const bytes = readFileSync(path);
    let offset = 0;
    while (offset < bytes.length) {
      const payload = payloadAt(bytes, offset);
      if (payload === null) {
        this.#cutTorn(segment, bytes, offset);
        return;
      }
      yield [payload, { segment, offset, length: payload.length }];
      offset += FRAME_HEAD_BYTES + payload.length;
    }
  }

  /** Begins a segment; the one before is made durable. */
  rotate(firstSlot: number): void {
    this.#closeWriter();
    this.#fd = openSync(join(this.#dir, fileName(firstSlot)), 'ax');
    this.#size = 0;
    this.#segments.push(firstSlot);
    syncDirectory(this.#dir);
  }

  /** Goes on with the last segment, all of which has been scanned up to and including `lastSlot`. */
  resume(lastSlot: number): void {
    const last = this.#segments.at(-1);
    if (last === undefined) throw new CorruptLog(`the log in ${this.#dir} has no segments`);
    this.#fd = openSync(join(this.#dir, fileName(last)), 'a');
    fdatasyncSync(this.#fd);
    this.#size = fstatSync(this.#fd).size;
    this.#written = lastSlot;
    this.#durable = lastSlot;
  }

  /** @throws the error of the disk, now and on every later call. */
  append(slot: number, payload: Uint8Array): RecordPosition {
    if (this.#failure !== null) throw this.#failure;
    if (this.#fd === null) throw new CorruptLog('the log is closed');
    const offset = this.#size;
    try {
      writeWhole(this.#fd, framed(payload));
    } catch (error) {
      throw this.#fail(error);
    }
    this.#size += FRAME_HEAD_BYTES + payload.length;
    this.#written = slot;
    this.#sync();
    return { segment: this.#segments.at(-1) as number, offset, length: payload.length };
  }

  /**
   * @returns the payload, checked.
   * @throws CorruptLog when it is damaged.
   */
  read({ segment, offset, length }: RecordPosition): Uint8Array {
    const bytes = Buffer.allocUnsafe(FRAME_HEAD_BYTES + length);
    const count = readSync(this.#reader(segment), bytes, 0, bytes.length, offset);
    const payload = count === bytes.length ? payloadAt(bytes, 0) : null;
    if (payload === null) throw new CorruptLog(`${fileName(segment)} is damaged at byte ${offset}`);
    return payload;
  }

  /** Deletes a segment that is not the last. */
  remove(segment: number): void {
    if (segment === this.#segments.at(-1)) throw new RangeError('the last segment is in use');
    const reader = this.#readers.get(segment);
    if (reader !== undefined) closeSync(reader);
    this.#readers.delete(segment);
    this.#segments = this.#segments.filter((other) => other !== segment);
    unlinkSync(join(this.#dir, fileName(segment)));
  }

  /** Makes everything durable and closes the files. */
  async close(): Promise<void> {
    if (this.#syncing) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#closeWriter();
    for (const reader of this.#readers.values()) closeSync(reader);
    this.#readers.clear();
  }

  #reader(segment: number): number {
    const open = this.#readers.get(segment);
    if (open !== undefined) return open;
    for (const [oldest, fd] of this.#readers) {
      if (this.#readers.size < OPEN_READERS_MAX) break;
      closeSync(fd);
      this.#readers.delete(oldest);
    }
    const fd = openSync(join(this.#dir, fileName(segment)), 'r');
    this.#readers.set(segment, fd);
    return fd;
  }

  #cutTorn(segment: number, bytes: Buffer, offset: number): void {
    if (segment !== this.#segments.at(-1) || hasFrameAfter(bytes, offset + 1)) {
      throw new CorruptLog(
        `${fileName(segment)} is damaged at byte ${offset}: restore the ledger directory or start with --reset`,
      );
    }
    const fd = openSync(join(this.#dir, fileName(segment)), 'r+');
    ftruncateSync(fd, offset);
    fsyncSync(fd);
    closeSync(fd);
  }

  /** Runs one `fdatasync` at a time. After a failed one the kernel's state is unknown: the log stops. */
  #sync(): void {
    if (this.#syncing || this.#fd === null || this.#durable === this.#written) return;
    const target = this.#written;
    this.#syncing = true;
    fdatasync(this.#fd, (error) => {
      this.#syncing = false;
      if (error !== null) this.#fail(error);
      else this.#durable = Math.max(this.#durable, target);
      if (this.#failure === null && this.#durable < this.#written) {
        this.#sync();
        return;
      }
      for (const resolve of this.#idle.splice(0)) resolve();
    });
  }

  #fail(error: unknown): Error {
    const failure = error instanceof Error ? error : new Error(String(error));
    if (this.#failure === null) {
      this.#failure = failure;
      this.#onFailure(failure);
    }
    return failure;
  }

  /** A sync still under way on the old file ends by itself: the descriptor is closed only afterwards. */
  #closeWriter(): void {
    if (this.#fd === null) return;
    const fd = this.#fd;
    this.#fd = null;
    if (this.#failure === null) {
      fdatasyncSync(fd);
      this.#durable = this.#written;
    }
    if (this.#syncing) this.#idle.push(() => closeSync(fd));
    else closeSync(fd);
  }
}

/** `write` may take less than it was given. */
function writeWhole(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
}

/** Makes the names in a directory durable. */
export function syncDirectory(dir: string): void {
  const fd = openSync(dir, 'r');
  fsyncSync(fd);
  closeSync(fd);
}
