import { digitCount } from '../base/text/short-bytes.ts';
import { frameBytes, writeFrameHead } from './text-frame.ts';

const heads = new Map<string, Buffer>();

function headOf(method: string): Buffer {
  const existing = heads.get(method);
  if (existing !== undefined) return existing;
  const head = Buffer.from(`{"jsonrpc":"2.0","method":"${method}","params":{"result":`);
  heads.set(method, head);
  return head;
}

const MIDDLE = Buffer.from(',"subscription":');
const ZERO = 0x30;
const BRACE = 0x7d;

/** Equal subscriptions share the encoded result. Clients with equal subscription ids also share a frame. */
export class Notification {
  readonly #head: Buffer;
  readonly #result: Buffer;
  #lastFrame: NotificationFrame | null = null;

  /** `method`: for example `accountNotification`. `result`: raw JSON of `params.result`. */
  constructor(method: string, result: Buffer) {
    this.#head = headOf(method);
    this.#result = result;
  }

  frame(id: number): NotificationFrame {
    if (this.#lastFrame?.id !== id) this.#lastFrame = new NotificationFrame(this.#head, this.#result, id);
    return this.#lastFrame;
  }
}

/** A WebSocket frame for one subscription id, encoded only when it is needed. */
export class NotificationFrame {
  readonly id: number;
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

  /** Shared; must not be modified. */
  get bytes(): Buffer {
    if (this.#bytes === null) {
      this.#bytes = Buffer.allocUnsafe(this.length);
      this.write(this.#bytes, 0);
    }
    return this.#bytes;
  }

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
