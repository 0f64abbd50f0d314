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
import { crc32 } from 'node:zlib';
import { makeFolder } from '../../../../src/base/make-folder.ts';

/** "SLOT": lets a reader find the next frame. */
const MAGIC = 0x544f4c53;
/** magic u32 | payload length u32 | CRC-32 of the payload u32, all little-endian. */
export const FRAME_HEADER_BYTES = 12;

export function encodeFrame(payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  frame.writeUInt32LE(MAGIC, 0);
  frame.writeUInt32LE(payload.length, 4);
  frame.writeUInt32LE(crc32(payload), 8);
  frame.set(payload, FRAME_HEADER_BYTES);
  return frame;
}

/** View of the payload; null if truncated or corrupt. */
function payloadAt(bytes: Buffer, offset: number): Buffer | null {
  const start = offset + FRAME_HEADER_BYTES;
  if (start > bytes.length || bytes.readUInt32LE(offset) !== MAGIC) return null;
  const end = start + bytes.readUInt32LE(offset + 4);
  if (end > bytes.length) return null;
  const payload = bytes.subarray(start, end);
  return crc32(payload) === bytes.readUInt32LE(offset + 8) ? payload : null;
}

/**
 * Reads the payload of a frame; null if truncated or corrupt.
 * @param fileBytes - file length, which bounds the frame.
 */
export function readFrame(fd: number, offset: number, fileBytes: number): Buffer | null {
  const head = readFully(fd, offset, Math.min(FRAME_HEADER_BYTES, fileBytes - offset));
  if (head.length < FRAME_HEADER_BYTES) return null;
  const length = FRAME_HEADER_BYTES + head.readUInt32LE(4);
  if (length > fileBytes - offset) return null;
  return payloadAt(readFully(fd, offset, length), 0);
}

/** Reads `length` bytes, or up to the end of the file. Repeats `read`, which may return less. */
function readFully(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const count = readSync(fd, bytes, done, length - done, offset + done);
    if (count === 0) break;
    done += count;
  }
  return bytes.subarray(0, done);
}

function hasFrameAfter(bytes: Buffer, offset: number): boolean {
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(MAGIC);
  let at = bytes.indexOf(magic, offset);
  for (; at !== -1; at = bytes.indexOf(magic, at + 1)) {
    if (payloadAt(bytes, at) !== null) return true;
  }
  return false;
}

/** Segments are named by their first slot. */
export type RecordPosition = Readonly<{ segment: number; offset: number; length: number }>;

/** Corruption that a crash cannot explain. */
export class CorruptLog extends Error {
  override readonly name = 'CorruptLog';
}

const SUFFIX = '.log';
const fileName = (segment: number): string => `${String(segment).padStart(12, '0')}${SUFFIX}`;

const OPEN_READERS_MAX = 16;

/**
 * Append-only log of slot records in segment files. An append survives a crash of the process immediately, and
 * a crash of the machine once `durableSlot` has reached it. One background `fdatasync` covers all appends since
 * the previous one.
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

  /** @param onFailure - called if a write fails; no further appends are accepted. */
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

  /** First slots, ascending. */
  get segments(): readonly number[] {
    return this.#segments;
  }

  /** Size of the current segment. */
  get segmentBytes(): number {
    return this.#size;
  }

  /** Highest slot that survives a machine crash; -1 for none. */
  get durableSlot(): number {
    return this.#durable;
  }

  /** First write error. */
  get failure(): Error | null {
    return this.#failure;
  }

  /**
   * Reads a segment in order. Removes an incomplete record at the end of the last segment.
   * @throws CorruptLog if a corrupt record is followed by others.
   */
  *scan(segment: number): IterableIterator<readonly [Uint8Array, RecordPosition]> {
    const path = join(this.#dir, fileName(segment));
    const bytes = readFileSync(path);
    let offset = 0;
    while (offset < bytes.length) {
      const payload = payloadAt(bytes, offset);
      if (payload === null) {
        this.#truncateTornRecord(segment, bytes, offset);
        return;
      }
      yield [payload, { segment, offset, length: payload.length }];
      offset += FRAME_HEADER_BYTES + payload.length;
    }
  }

  /** Syncs the current segment and starts another. */
  rotate(firstSlot: number): void {
    this.#closeWriter();
    this.#fd = openSync(join(this.#dir, fileName(firstSlot)), 'ax');
    this.#size = 0;
    this.#segments.push(firstSlot);
    syncDirectory(this.#dir);
  }

  /** Continues the last segment after `lastSlot`, its newest record. */
  resume(lastSlot: number): void {
    const last = this.#segments.at(-1);
    if (last === undefined) throw new CorruptLog(`no log segments in ${this.#dir}`);
    this.#fd = openSync(join(this.#dir, fileName(last)), 'a');
    fdatasyncSync(this.#fd);
    this.#size = fstatSync(this.#fd).size;
    this.#written = lastSlot;
    this.#durable = lastSlot;
  }

  /** @throws the write error, also on all later calls. */
  append(slot: number, payload: Uint8Array): RecordPosition {
    if (this.#failure !== null) throw this.#failure;
    if (this.#fd === null) throw new CorruptLog('log is closed');
    const offset = this.#size;
    try {
      writeFully(this.#fd, encodeFrame(payload));
    } catch (error) {
      throw this.#fail(error);
    }
    this.#size += FRAME_HEADER_BYTES + payload.length;
    this.#written = slot;
    this.#sync();
    return { segment: this.#segments.at(-1) as number, offset, length: payload.length };
  }

  /** @throws CorruptLog if the record is corrupt. */
  read({ segment, offset, length }: RecordPosition): Uint8Array {
    const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + length);
    const count = readSync(this.#reader(segment), bytes, 0, bytes.length, offset);
    const payload = count === bytes.length ? payloadAt(bytes, 0) : null;
    if (payload === null) throw new CorruptLog(`${fileName(segment)} is corrupt at byte ${offset}`);
    return payload;
  }

  remove(segment: number): void {
    if (segment === this.#segments.at(-1))
      throw new RangeError('cannot remove the last segment: it is in use');
    const reader = this.#readers.get(segment);
    if (reader !== undefined) closeSync(reader);
    this.#readers.delete(segment);
    this.#segments = this.#segments.filter((other) => other !== segment);
    unlinkSync(join(this.#dir, fileName(segment)));
  }

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

  #truncateTornRecord(segment: number, bytes: Buffer, offset: number): void {
    if (segment !== this.#segments.at(-1) || hasFrameAfter(bytes, offset + 1)) {
      throw new CorruptLog(
        `${fileName(segment)} is corrupt at byte ${offset}: restore the ledger directory or start with --reset`,
      );
    }
    const fd = openSync(join(this.#dir, fileName(segment)), 'r+');
    ftruncateSync(fd, offset);
    fsyncSync(fd);
    closeSync(fd);
  }

  /** Runs one `fdatasync` at a time. After a failed one it is unknown what is on disk, so the log stops. */
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

  /** Closes the descriptor, after a running sync if there is one. */
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

/** Repeats `write`, which may write less than requested. */
function writeFully(fd: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done);
}

/** Makes directory entries durable. */
export function syncDirectory(dir: string): void {
  const fd = openSync(dir, 'r');
  fsyncSync(fd);
  closeSync(fd);
}
