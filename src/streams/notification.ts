import { digitCount } from '../base/text/digits.ts';
import { frameBytes, writeFrameHead } from './text-frame.ts';

/** What stands before the result, by the method of the notification: there are as many as kinds. */
const heads = new Map<string, Buffer>();

function headOf(method: string): Buffer {
  const existing = heads.get(method);
  if (existing !== undefined) return existing;
  const head = Buffer.from(`{"jsonrpc":"2.0","method":"${method}","params":{"result":`);
  heads.set(method, head);
  return head;
}

/** What stands between the result and the subscription's id. */
const MIDDLE = Buffer.from(',"subscription":');
const ZERO = 0x30;
const BRACE = 0x7d;

/**
 * One notification for all who subscribed to the same: its result is written once and only the subscription's id
 * differs from client to client. Clients whose ids are equal share one frame.
 */
export class Notification {
  readonly #head: Buffer;
  readonly #result: Buffer;
  #lastFrame: NotificationFrame | null = null;

  /**
   * @param method - such as `accountNotification`, one of those of protocol/subscriptions.ts.
   * @param result - raw JSON of `params.result`.
   */
  constructor(method: string, result: Buffer) {
    this.#head = headOf(method);
    this.#result = result;
  }

  /** What the holders of this subscription id get. */
  frame(id: number): NotificationFrame {
    if (this.#lastFrame?.id !== id) this.#lastFrame = new NotificationFrame(this.#head, this.#result, id);
    return this.#lastFrame;
  }
}

/**
 * A notification as a whole WebSocket frame for the holders of one subscription id. It is no bytes yet: those are
 * written where they leave from, next to others of the same turn.
 */
export class NotificationFrame {
  readonly id: number;
  /** Bytes of the frame. */
  readonly length: number;
  readonly #head: Buffer;
  readonly #result: Buffer;
  readonly #digits: number;
  #bytes: Buffer | null = null;

  /** @param id - 0 to 2⁵³ - 1. */
  constructor(head: Buffer, result: Buffer, id: number) {
    this.id = id;
    this.#head = head;
    this.#result = result;
    this.#digits = digitCount(id);
    this.length = frameBytes(this.#textBytes);
  }

  /** The frame as bytes that stay. Shared: not to be modified. */
  get bytes(): Buffer {
    if (this.#bytes === null) {
      this.#bytes = Buffer.allocUnsafe(this.length);
      this.write(this.#bytes, 0);
    }
    return this.#bytes;
  }

  /** Writes all of it, from `at` on. */
  write(target: Buffer, at: number): void {
    const start = writeFrameHead(target, at, this.#textBytes);
    target.set(this.#head, start);
    const resultAt = start + this.#head.length;
    target.set(this.#result, resultAt);
    const middleAt = resultAt + this.#result.length;
    target.set(MIDDLE, middleAt);
    const idAt = middleAt + MIDDLE.length;
    let end = idAt + this.#digits;
    target[end] = BRACE;
    target[end + 1] = BRACE;
    for (let rest = this.id; end > idAt; rest = Math.floor(rest / 10)) target[--end] = ZERO + (rest % 10);
  }

  get #textBytes(): number {
    return this.#head.length + this.#result.length + MIDDLE.length + this.#digits + 2;
  }
}
