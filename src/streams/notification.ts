import { textFrame } from './text-frame.ts';

const HEAD = '{"jsonrpc":"2.0","method":"';
const RESULT = '","params":{"result":';
const SUBSCRIPTION = ',"subscription":';
const END = '}}';

/**
 * One notification for all who subscribed to the same: its result is written once and only the subscription's id
 * differs from client to client. Clients whose ids are equal share one frame.
 */
export class Notification {
  readonly #head: Buffer;
  #lastId = -1;
  #lastFrame: Buffer | null = null;

  /**
   * @param method - such as `accountNotification`.
   * @param result - raw JSON of `params.result`.
   */
  constructor(method: string, result: Buffer) {
    this.#head = Buffer.concat([Buffer.from(`${HEAD}${method}${RESULT}`), result, Buffer.from(SUBSCRIPTION)]);
  }

  /** The whole WebSocket frame for the holder of this subscription id. Shared: not to be modified. */
  frame(id: number): Buffer {
    if (this.#lastFrame !== null && this.#lastId === id) return this.#lastFrame;
    this.#lastId = id;
    this.#lastFrame = textFrame([this.#head, Buffer.from(`${id}${END}`)]);
    return this.#lastFrame;
  }
}
