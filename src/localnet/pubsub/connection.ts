import { isUtf8 } from 'node:buffer';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Logger } from '../../base/log.ts';
import type { NotificationFrame } from '../../streams/notification.ts';
import { Outbox } from '../../streams/outbox.ts';
import { textFrame } from '../../streams/text-frame.ts';
import { type AnswerOptions, answer } from '../http/answer.ts';
import type { LocalNode } from '../node.ts';
import { methodsOf } from './methods.ts';
import type { Holder, Topics } from './topics.ts';

/** WebSocket close code: data that is not of the kind it says. */
const INVALID_DATA = 1007;

export type ConnectionOptions = Readonly<{
  /** Messages that were read and not answered yet, after which reading pauses. */
  unansweredMax: number;
  /** Bytes that may wait for the client to take them. */
  queueMaxBytes: number;
  log: Logger;
}>;

/** One client of the node's PubSub. Its messages are answered one after the other. */
export class PubsubConnection implements Holder {
  readonly #socket: WebSocket;
  readonly #outbox: Outbox;
  readonly #topics: Topics;
  readonly #options: ConnectionOptions;
  readonly #answering: AnswerOptions;
  /** Ids of its subscriptions. */
  readonly #held = new Set<number>();
  /** Told while a message was being answered: a subscription's id goes out before what it tells. */
  readonly #late: NotificationFrame[] = [];
  #unanswered = 0;
  #isGone = false;
  #lastAnswer: Promise<void> = Promise.resolve();

  constructor(
    socket: WebSocket,
    stream: Duplex,
    { node, topics }: Readonly<{ node: LocalNode; topics: Topics }>,
    options: ConnectionOptions,
  ) {
    this.#socket = socket;
    this.#outbox = new Outbox(stream, options, (behind) => this.#disconnect({ behind }));
    this.#topics = topics;
    this.#options = options;
    this.#answering = {
      methods: methodsOf(node, topics, this, this.#held),
      // Nothing else bounds a batch than the size of its message.
      batchMaxCalls: Number.MAX_SAFE_INTEGER,
      batchAnswerMaxChars: Number.MAX_SAFE_INTEGER,
      log: options.log,
    };
    socket.on('message', (data: Buffer) => this.#receive(data));
    socket.on('close', () => {
      this.#isGone = true;
      void this.#lastAnswer.then(() => this.#leave());
    });
  }

  notify(id: number, frame: NotificationFrame, last: boolean): void {
    if (last) this.#held.delete(id);
    if (this.#unanswered > 0) this.#late.push(frame);
    else this.#outbox.push(frame);
  }

  /** Sends what waits and says goodbye. */
  close(code: number): void {
    this.#outbox.finish();
    this.#socket.close(code);
  }

  /** Takes a message: text, or bytes that hold text. */
  #receive(data: Buffer): void {
    if (!isUtf8(data)) {
      this.close(INVALID_DATA);
      return;
    }
    this.#unanswered++;
    if (this.#unanswered >= this.#options.unansweredMax) this.#socket.pause();
    this.#lastAnswer = this.#lastAnswer
      .then(() => this.#answer(data))
      .catch((error: unknown) => {
        this.#options.log.error({ err: error }, 'a WebSocket message could not be answered');
        this.#socket.terminate();
      });
  }

  async #answer(data: Buffer): Promise<void> {
    if (this.#isGone) return;
    const text = (await answer(data, this.#answering)).trimEnd();
    if (text !== '') this.#outbox.push(textFrame([Buffer.from(text)]));
    for (const frame of this.#late.splice(0)) this.#outbox.push(frame);
    this.#unanswered--;
    if (this.#socket.isPaused) this.#socket.resume();
  }

  /** A client that does not read gets no goodbye either, as from Agave. */
  #disconnect(facts: object): void {
    this.#options.log.warn(facts, 'a WebSocket client reads too slowly and is disconnected');
    this.#socket.terminate();
  }

  #leave(): void {
    for (const id of this.#held) this.#topics.release(id, this);
    this.#held.clear();
  }
}
