import { isUtf8 } from 'node:buffer';
import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import type { Logger } from '../../base/log.ts';
import type { NotificationFrame } from '../../streams/notification.ts';
import { Outbox } from '../../streams/outbox.ts';
import { textFrame } from '../../streams/text-frame.ts';
import { type AnswerOptions, answer } from '../http/handle-request.ts';
import type { LocalNode } from '../node.ts';
import { methodsOf } from './methods.ts';
import type { Holder, Topics } from './subscriptions.ts';

/** WebSocket close code: data that is not of the kind it says. */
const INVALID_DATA = 1007;
/** Answers after which the ledger's clock and other clients have a turn. */
const ANSWERS_PER_TURN = 16;

export type ConnectionOptions = Readonly<{
  /**
   * Messages that were read and not answered yet, after which nothing more is read until all are answered. What came
   * in one piece with the last of them, 64 KiB at most, is kept too.
   */
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
  /** Messages that wait for their turn. */
  #unanswered: Buffer[] = [];
  #isAnswering = false;
  #isWorking = false;
  #isGone = false;

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
      if (!this.#isWorking) this.#leave();
    });
  }

  notify(id: number, frame: NotificationFrame, last: boolean): void {
    if (last) this.#held.delete(id);
    if (this.#isAnswering) this.#late.push(frame);
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
    this.#unanswered.push(data);
    if (this.#unanswered.length >= this.#options.unansweredMax) this.#socket.pause();
    if (!this.#isWorking) void this.#work();
  }

  /** Answers until nothing waits. */
  async #work(): Promise<void> {
    this.#isWorking = true;
    try {
      while (this.#unanswered.length > 0) await this.#answerEach(this.#unanswered.splice(0));
      if (this.#socket.isPaused) this.#socket.resume();
    } catch (error) {
      this.#options.log.error({ err: error }, 'a WebSocket message could not be answered');
      this.#socket.terminate();
    }
    this.#isWorking = false;
    if (this.#isGone) this.#leave();
  }

  async #answerEach(messages: readonly Buffer[]): Promise<void> {
    for (const [at, data] of messages.entries()) {
      if (this.#isGone) return;
      if (at % ANSWERS_PER_TURN === ANSWERS_PER_TURN - 1) await setImmediate();
      await this.#answer(data);
    }
  }

  async #answer(data: Buffer): Promise<void> {
    this.#isAnswering = true;
    const text = (await answer(data, this.#answering)).trimEnd();
    if (text !== '') this.#outbox.push(textFrame([Buffer.from(text)]));
    for (const frame of this.#late.splice(0)) this.#outbox.push(frame);
    this.#isAnswering = false;
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
