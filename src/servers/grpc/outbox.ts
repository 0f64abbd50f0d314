import type { Writable } from 'node:stream';
import { FRAME_HEADER_BYTES } from '../../protocol/grpc/frames.ts';
import type { StreamBacklog } from '../../streams/geyser/geyser-sink.ts';
import type { FlushScheduler } from '../../streams/outbox.ts';
import { BATCH_MAX_BYTES, type CompressedBatches, FrameBatches, type Slab, writeHead } from './batches.ts';

export type OutboxOptions = Readonly<{
  queueMaxMessages: number;
  /** May be exceeded only by the last queued message. */
  queueMaxBytes: number;
}>;

export interface OutboxListener {
  /** Called once, when a queue limit is exceeded and the queue has been dropped. */
  onLagging(behind: StreamBacklog): void;
}

/** Larger messages are written without copying their tails. */
const LARGE_BYTES = 16 * 1024;

/** One write in progress and one ready to follow. Other messages stay in memory that the queues share. */
const WRITES_MAX = 2;

const COMPACT_PARTS = 8_192;

/** `joined` flushes after a short delay, `urgent` in the same event loop turn. */
export type FlushSchedulers = Readonly<{ joined: FlushScheduler; urgent: FlushScheduler }>;

export type OutboxParts = Readonly<{
  queues: QueueBudget;
  flushSchedulers: FlushSchedulers;
  compressor: CompressedBatches | null;
  listener: OutboxListener;
}>;

const batches = new FrameBatches();

/** Bounded queue of a call. Holds each message by reference, in two parts that many queues share. */
export class Outbox {
  readonly #stream: Writable;
  readonly #options: OutboxOptions;
  readonly #budget: QueueBudget;
  readonly #schedulers: FlushSchedulers;
  #scheduler: FlushScheduler;
  readonly #listener: OutboxListener;
  readonly #compressor: CompressedBatches | null;
  readonly #parts: Uint8Array[] = [];
  #from = 0;
  #queuedBytes = 0;
  /** Sizes and slabs of pending writes, oldest first. */
  readonly #writing: number[] = [];
  readonly #slabs: (Slab | null)[] = [];
  #writingBytes = 0;
  #isScheduled = false;
  #state: 'open' | 'finishing' | 'over' = 'open';
  #sentMessages = 0;
  #sentBytes = 0;

  constructor(stream: Writable, options: OutboxOptions, parts: OutboxParts) {
    const { queues, flushSchedulers, compressor, listener } = parts;
    this.#stream = stream;
    this.#options = options;
    this.#budget = queues;
    this.#schedulers = flushSchedulers;
    this.#scheduler = flushSchedulers.joined;
    this.#listener = listener;
    this.#compressor = compressor;
  }

  get waitingBytes(): number {
    return this.#queuedBytes + this.#writingBytes;
  }

  get waitingMessages(): number {
    return (this.#parts.length - this.#from) >> 1;
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Queues a message in two parts, which must not be modified afterwards. @param names - encoded filter names. */
  push(names: Uint8Array, tail: Uint8Array): void {
    if (this.#state !== 'open') return;
    const bytes = FRAME_HEADER_BYTES + names.length + tail.length;
    const { queueMaxMessages, queueMaxBytes } = this.#options;
    if (this.waitingMessages >= queueMaxMessages || this.waitingBytes > queueMaxBytes) {
      this.#listener.onLagging(this.cut(1, bytes));
      return;
    }
    this.#parts.push(names, tail);
    this.#queuedBytes += bytes;
    this.#budget.add(bytes);
    this.#schedule();
  }

  /** Sends messages in the same event loop turn, instead of waiting to join them with later messages. */
  setUrgent(): void {
    this.#scheduler = this.#schedulers.urgent;
  }

  flush(): void {
    this.#isScheduled = false;
    if (this.#state === 'over') return;
    while (this.#from < this.#parts.length && this.#writing.length < WRITES_MAX) this.#writeNext();
    if (this.#state === 'finishing' && this.#from === this.#parts.length) {
      this.#state = 'over';
      this.#stream.end();
    }
  }

  finish(): void {
    if (this.#state !== 'open') return;
    this.#state = 'finishing';
    this.flush();
  }

  /** Drops the queue. @returns the dropped messages and bytes, plus the bytes being written. */
  cut(moreMessages = 0, moreBytes = 0): StreamBacklog {
    const messages = ((this.#parts.length - this.#from) >> 1) + moreMessages;
    const behind = { messages, bytes: this.waitingBytes + moreBytes };
    this.#empty();
    return behind;
  }

  close(): void {
    this.#state = 'over';
    this.#empty();
    this.#budget.release(this.#writingBytes);
    this.#writingBytes = 0;
  }

  /** Returns the number of messages passed to HTTP/2 since the last call, and their uncompressed bytes. */
  takeSent(): { messages: number; bytes: number } {
    const sent = { messages: this.#sentMessages, bytes: this.#sentBytes };
    this.#sentMessages = 0;
    this.#sentBytes = 0;
    return sent;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#from === this.#parts.length) return;
    this.#isScheduled = true;
    this.#scheduler.schedule(this);
  }

  #empty(): void {
    this.#parts.length = 0;
    this.#from = 0;
    this.#budget.release(this.#queuedBytes);
    this.#queuedBytes = 0;
  }

  #writeNext(): void {
    const parts = this.#parts;
    let to = this.#from;
    let bytes = 0;
    while (to < parts.length) {
      const next =
        FRAME_HEADER_BYTES + (parts[to] as Uint8Array).length + (parts[to + 1] as Uint8Array).length;
      if (next > LARGE_BYTES || bytes + next > BATCH_MAX_BYTES) break;
      bytes += next;
      to += 2;
    }
    if (this.#compressor !== null) this.#writeCompressed(this.#compressor, Math.max(to, this.#from + 2));
    else if (bytes > 0) this.#writeBatch(to, bytes);
    else this.#writeLarge();
  }

  #writeBatch(to: number, bytes: number): void {
    const batch = batches.join(this.#parts, this.#from, to, bytes);
    batches.slab.readers += 1;
    this.#recordWrite(to, bytes, bytes, batches.slab);
    this.#stream.write(batch, this.#onWritten);
  }

  #writeCompressed(compressor: CompressedBatches, to: number): void {
    const bytes = this.#bytesUntil(to);
    const batch = compressor.join(this.#parts, this.#from, to);
    this.#recordWrite(to, bytes, batch.length, null);
    this.#stream.write(batch, this.#onWritten);
  }

  #writeLarge(): void {
    const names = this.#parts[this.#from] as Uint8Array;
    const tail = this.#parts[this.#from + 1] as Uint8Array;
    const head = Buffer.allocUnsafe(FRAME_HEADER_BYTES + names.length);
    writeHead(head, 0, 0, names.length + tail.length);
    head.set(names, FRAME_HEADER_BYTES);
    const bytes = head.length + tail.length;
    this.#recordWrite(this.#from + 2, bytes, bytes, null);
    this.#stream.cork();
    this.#stream.write(head);
    this.#stream.write(tail, this.#onWritten);
    this.#stream.uncork();
  }

  #bytesUntil(to: number): number {
    let bytes = ((to - this.#from) >> 1) * FRAME_HEADER_BYTES;
    for (let i = this.#from; i < to; i++) bytes += (this.#parts[i] as Uint8Array).length;
    return bytes;
  }

  /** Moves the messages before `to` into a pending write of `bytes` bytes. */
  #recordWrite(to: number, queuedBytes: number, bytes: number, slab: Slab | null): void {
    this.#sentMessages += (to - this.#from) >> 1;
    this.#sentBytes += queuedBytes;
    this.#queuedBytes -= queuedBytes;
    this.#writingBytes += bytes;
    this.#budget.add(bytes - queuedBytes);
    this.#writing.push(bytes);
    this.#slabs.push(slab);
    this.#from = to;
    if (to === this.#parts.length) {
      this.#parts.length = 0;
      this.#from = 0;
    } else if (to > COMPACT_PARTS && to * 2 > this.#parts.length) {
      this.#parts.splice(0, to);
      this.#from = 0;
    }
  }

  /** If the stream was destroyed, the slab is not reused, because HTTP/2 may still read it. */
  readonly #onWritten = (fault?: Error | null): void => {
    const bytes = this.#writing.shift() as number;
    const slab = this.#slabs.shift() as Slab | null;
    if (fault || this.#stream.destroyed) return;
    if (slab !== null) batches.release(slab);
    this.#writingBytes -= bytes;
    this.#budget.release(bytes);
    // A short queue waits for the next flush, so that later messages can join the same write.
    if (this.#state === 'open' && this.#queuedBytes < BATCH_MAX_BYTES) this.#schedule();
    else this.flush();
  };
}

export class QueueBudget {
  readonly #maxBytes: number;
  readonly #onOverflow: (bytes: number) => void;
  #bytes = 0;
  #isScheduled = false;

  /** @param onOverflow - called at the end of an event loop turn with the number of excess bytes. */
  constructor(maxBytes: number, onOverflow: (bytes: number) => void) {
    this.#maxBytes = maxBytes;
    this.#onOverflow = onOverflow;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes || this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const tooMany = this.#bytes - this.#maxBytes;
      if (tooMany > 0) this.#onOverflow(tooMany);
    });
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}
