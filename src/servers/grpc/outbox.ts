import type { Writable } from 'node:stream';
import { HEAD_BYTES } from '../../protocol/grpc/frames.ts';
import type { StreamBacklog } from '../../streams/geyser/geyser-sink.ts';
import type { FlushScheduler } from '../../streams/outbox.ts';
import type { CompressedBatches } from './compressed-batches.ts';
import { BATCH_MAX_BYTES, FrameBatches, type Slab, writeHead } from './frame-batches.ts';
import type { QueueBudget } from './queue-budget.ts';

export type OutboxOptions = Readonly<{
  /** Messages that may wait; with another the client lags. */
  queueMaxMessages: number;
  /** Bytes that may wait; when more do and another message comes, the client lags. */
  queueMaxBytes: number;
}>;

/** Whoever has an outbox. */
export interface OutboxListener {
  /** More waits than may. The outbox takes nothing more, and what waited is dropped. Called once. */
  onLagging(behind: StreamBacklog): void;
}

/** From this size on a message leaves in memory of its own, uncopied. */
const LARGE_BYTES = 16 * 1024;

/** Writes that the stream has at a time: one that leaves, one that follows at once. What else waits is shared memory. */
const WRITES_MAX = 2;

/** A queue that was read so far from its front is moved up. */
const COMPACT_PARTS = 8_192;

/** When what waits leaves: with what comes within a moment, or in the turn in which it came. */
export type FlushSchedulers = Readonly<{ joined: FlushScheduler; urgent: FlushScheduler }>;

/** What the outboxes of a server share, and whose this one is. */
export type OutboxParts = Readonly<{
  queues: QueueBudget;
  flushSchedulers: FlushSchedulers;
  /** null: what is sent is not compressed. */
  compressor: CompressedBatches | null;
  listener: OutboxListener;
}>;

const batches = new FrameBatches();

/**
 * The bounded queue of messages before one call's HTTP/2 stream. Messages are held by reference, in two parts that many
 * queues share; all that came in a turn leave in one write, and what a client is slow to take stays shared.
 */
export class Outbox {
  readonly #stream: Writable;
  readonly #options: OutboxOptions;
  readonly #budget: QueueBudget;
  readonly #schedulers: FlushSchedulers;
  #scheduler: FlushScheduler;
  readonly #listener: OutboxListener;
  readonly #compressor: CompressedBatches | null;
  /** Names and tail of each message that waits, in turns, from `#from` on. */
  readonly #parts: Uint8Array[] = [];
  #from = 0;
  #queuedBytes = 0;
  /** Of each write that is under way: its bytes, and the slab it reads. The same order as they were written. */
  readonly #writing: number[] = [];
  readonly #slabs: (Slab | null)[] = [];
  #writingBytes = 0;
  #isScheduled = false;
  #state: 'open' | 'finishing' | 'over' = 'open';
  #sentMessages = 0;
  #sentBytes = 0;

  constructor(
    stream: Writable,
    options: OutboxOptions,
    { queues, flushSchedulers, compressor, listener }: OutboxParts,
  ) {
    this.#stream = stream;
    this.#options = options;
    this.#budget = queues;
    this.#schedulers = flushSchedulers;
    this.#scheduler = flushSchedulers.joined;
    this.#listener = listener;
    this.#compressor = compressor;
  }

  /** Bytes that wait for the client to take them. */
  get waitingBytes(): number {
    return this.#queuedBytes + this.#writingBytes;
  }

  /** Messages that wait in the queue. */
  get waitingMessages(): number {
    return (this.#parts.length - this.#from) >> 1;
  }

  /** Bytes that wait in the queue, and would be dropped with it. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** Queues a message. @param names - first part, which may be empty. */
  push(names: Uint8Array, tail: Uint8Array): void {
    if (this.#state !== 'open') return;
    const bytes = HEAD_BYTES + names.length + tail.length;
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

  /** What comes leaves in the turn in which it came. */
  setUrgent(): void {
    this.#scheduler = this.#schedulers.urgent;
  }

  /** Hands to the stream what it takes now. */
  flush(): void {
    this.#isScheduled = false;
    if (this.#state === 'over') return;
    while (this.#from < this.#parts.length && this.#writing.length < WRITES_MAX) this.#writeNext();
    if (this.#state === 'finishing' && this.#from === this.#parts.length) {
      this.#state = 'over';
      this.#stream.end();
    }
  }

  /** Takes nothing more; ends the stream when all that waits was handed to it. */
  finish(): void {
    if (this.#state !== 'open') return;
    this.#state = 'finishing';
    this.flush();
  }

  /** Drops what waits, but for what the stream has; `finish` then ends it. @returns what is not taken. */
  cut(moreMessages = 0, moreBytes = 0): StreamBacklog {
    const messages = ((this.#parts.length - this.#from) >> 1) + moreMessages;
    const behind = { messages, bytes: this.waitingBytes + moreBytes };
    this.#empty();
    return behind;
  }

  /** Lets go of everything: the stream is gone. */
  close(): void {
    this.#state = 'over';
    this.#empty();
    this.#budget.release(this.#writingBytes);
    this.#writingBytes = 0;
  }

  /** Messages that were handed to the stream since the last look, and their bytes, as many as before compression. */
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
      const next = HEAD_BYTES + (parts[to] as Uint8Array).length + (parts[to + 1] as Uint8Array).length;
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

  /** The tail is not copied; head and names are. */
  #writeLarge(): void {
    const names = this.#parts[this.#from] as Uint8Array;
    const tail = this.#parts[this.#from + 1] as Uint8Array;
    const head = Buffer.allocUnsafe(HEAD_BYTES + names.length);
    writeHead(head, 0, 0, names.length + tail.length);
    head.set(names, HEAD_BYTES);
    const bytes = head.length + tail.length;
    this.#recordWrite(this.#from + 2, bytes, bytes, null);
    this.#stream.cork();
    this.#stream.write(head);
    this.#stream.write(tail, this.#onWritten);
    this.#stream.uncork();
  }

  #bytesUntil(to: number): number {
    let bytes = 0;
    for (let i = this.#from; i < to; i += 2) {
      bytes += HEAD_BYTES + (this.#parts[i] as Uint8Array).length + (this.#parts[i + 1] as Uint8Array).length;
    }
    return bytes;
  }

  /** Notes a write: messages before `to` leave the queue, in so many bytes. */
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

  /**
   * A write has left. What a stream that was cut off has not sent may still be read by HTTP/2, so that memory is not
   * used again.
   */
  readonly #onWritten = (fault?: Error | null): void => {
    const bytes = this.#writing.shift() as number;
    const slab = this.#slabs.shift() as Slab | null;
    if (fault || this.#stream.destroyed) return;
    if (slab !== null) batches.release(slab);
    this.#writingBytes -= bytes;
    this.#budget.release(bytes);
    // What came since then leaves together with what still comes, unless there is much of it.
    if (this.#state === 'open' && this.#queuedBytes < BATCH_MAX_BYTES) this.#schedule();
    else this.flush();
  };
}
