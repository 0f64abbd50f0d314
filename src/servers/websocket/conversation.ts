import type { ByteBudget } from '../../base/byte-budget.ts';
import { inOrder } from '../../base/in-order.ts';
import type { Envelope, EnvelopeItem, EnvelopeLimits } from '../../protocol/envelope.ts';
import { NULL_ID, pushAnswer, pushFailure } from '../../protocol/envelope-answer.ts';
import { Failure } from '../../protocol/errors.ts';
import { invalidSubscriptionId, parseRawUnsubscribe } from '../../protocol/pubsub/unsubscribe.ts';
import { RpcError } from '../../protocol/rpc-error.ts';
import type { SubscriptionKind } from '../../protocol/subscriptions.ts';
import type { OpenSubscription, Session } from '../../streams/session.ts';
import { textFrame } from '../../streams/text-frame.ts';
import { AnswerRoom } from '../rpc/answer-room.ts';
import { CallLine, type CallLineOptions } from './call-line.ts';
import type { CallPlaces } from './call-places.ts';
import { ClientSubscriptions } from './client-subscriptions.ts';
import { type ClientCall, decodeMessage, subscriptionMethodOf } from './decode.ts';
import { batchFrame } from './encode.ts';
import { errorBody } from './errors.ts';
import type { Peer } from './peer.ts';

export type ConversationOptions = CallLineOptions &
  Readonly<{
    /** Calls of one batch that are on their way at a time. */
    batchConcurrency: number;
    /** What the answers to batches are held in until the last of a batch is there, with those of other doors. */
    answers: ByteBudget;
    /** Those of one batch; its other calls get BATCH_ANSWER_TOO_LARGE. */
    batchAnswersMaxBytes: number;
    envelope: EnvelopeLimits;
  }>;

/** What one call led to. No pieces: it has no answer. */
type Reply = Readonly<{
  pieces: Buffer[];
  /** Somebody answered it. */
  asked: boolean;
  /** Begins to tell once the answer is on its way. */
  opened: OpenSubscription | null;
}>;

const TRUE = Buffer.from('true');
/**
 * How far an acknowledgement is ahead of the first notification: @solana/kit misses what it reads together with
 * the acknowledgement. A chance and no promise: on a slow line the two may still arrive together.
 */
const ACKNOWLEDGEMENT_LEAD_MS = 5;

/** JSON-RPC over one connection: calls are answered as they finish, each message by one message. */
export class Conversation {
  readonly #session: Session;
  readonly #peer: Peer;
  readonly #options: ConversationOptions;
  /** Those of all connections. */
  readonly #places: CallPlaces;
  readonly #subscriptions: ClientSubscriptions;
  /** Messages whose answers have not gone out. */
  #answering = 0;
  // Made with the first call: most connections only listen.
  #line: CallLine | null = null;
  #leaving: AbortController | null = null;
  /** Subscriptions whose acknowledgement is ahead of what they tell. */
  #starting: Set<NodeJS.Timeout> | null = null;
  #isClosed = false;

  constructor(session: Session, peer: Peer, options: ConversationOptions, places: CallPlaces) {
    this.#session = session;
    this.#peer = peer;
    this.#options = options;
    this.#places = places;
    this.#subscriptions = new ClientSubscriptions(peer);
  }

  /** Subscriptions that are open. */
  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  /** Whether a message is being answered. */
  get answering(): boolean {
    return this.#answering > 0;
  }

  /** Takes a message of the client. @returns how many calls it holds, or what passes for them. */
  receive(message: Buffer): number {
    const { envelope, failure } = decodeMessage(message, this.#options.envelope);
    if (envelope === null || envelope.items.length === 0) {
      const said = this.#session.countNonCall(failure, message.length, NULL_ID.length);
      if (said !== null) this.#peer.send(textFrame(refusal(said, NULL_ID).pieces));
      return 1;
    }
    this.#answering += 1;
    this.#answer(envelope)
      .catch((thrown: unknown) => this.#peer.broke(thrown))
      .finally(() => {
        this.#answering -= 1;
        this.#peer.settled();
      });
    return envelope.items.length;
  }

  /** The connection ends: nothing that is under way goes on, no subscription stays. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#starting ?? []) clearTimeout(timer);
    this.#starting = null;
    this.#leaving?.abort();
    this.#line?.close();
    this.#subscriptions.clear();
    this.#session.end();
  }

  #answer({ batch, items }: Envelope): Promise<void> {
    return batch ? this.#answerBatch(items) : this.#answerSingle(items[0] as EnvelopeItem);
  }

  async #answerSingle(item: EnvelopeItem): Promise<void> {
    const reply = await this.#reply(item);
    if (reply.pieces.length > 0) this.#send(textFrame(reply.pieces), reply.asked);
    this.#start(reply);
  }

  async #answerBatch(items: readonly EnvelopeItem[]): Promise<void> {
    const { answers: budget, batchAnswersMaxBytes, batchConcurrency } = this.#options;
    const room = new AnswerRoom(budget, batchAnswersMaxBytes);
    try {
      this.#sendBatch(await inOrder(items, batchConcurrency, (item) => this.#reply(item, room)));
    } finally {
      room.giveBack();
    }
  }

  #sendBatch(replies: readonly Reply[]): void {
    const answers = replies.map(({ pieces }) => pieces).filter(({ length }) => length > 0);
    const asked = replies.some((reply) => reply.asked);
    if (answers.length > 0) this.#send(batchFrame(answers), asked);
    for (const reply of replies) this.#start(reply);
  }

  /** Lets a subscription tell, once its acknowledgement has had time to arrive by itself. */
  #start({ opened }: Reply): void {
    if (opened === null || this.#isClosed) return;
    this.#starting ??= new Set();
    const timer = setTimeout(() => {
      this.#starting?.delete(timer);
      opened.start();
    }, ACKNOWLEDGEMENT_LEAD_MS);
    this.#starting.add(timer);
  }

  #send(frame: Buffer, asked: boolean): void {
    if (asked) this.#peer.answer(frame);
    else this.#peer.send(frame);
  }

  /** @param room - that of its batch; null for one by itself. */
  async #reply(item: EnvelopeItem, room: AnswerRoom | null = null): Promise<Reply> {
    if (!this.#peer.open) return silence;
    if (item.kind !== 'call') return this.#replyToNonCall(item);
    const method = subscriptionMethodOf(item);
    if (method?.action === 'unsubscribe') return this.#unsubscribe(item, method.kind);
    // Bounded by the subscriptions that the plan allows: a client that comes back asks for all of them at once.
    if (method !== undefined) return this.#subscribe(item, method.kind);
    return this.#call(item, room);
  }

  /** Nothing is ever said to a notification, not even that it was too much. */
  #replyToNonCall(item: Exclude<EnvelopeItem, ClientCall>): Reply {
    const [fault, id] = item.kind === 'fault' ? [new Failure(item.code), item.id] : [null, null];
    const failure = this.#session.countNonCall(fault, item.bytes, id?.length ?? null);
    return id !== null && failure !== null ? refusal(failure, id) : silence;
  }

  async #call(call: ClientCall, room: AnswerRoom | null): Promise<Reply> {
    if (room?.isFull === true) return refusal(room.refusal(), call.id);
    if (this.#peer.full) return refusal(new Failure('OVERLOADED'), call.id);
    this.#line ??= new CallLine(this.#options);
    const line = this.#line;
    const entered = line.enter(call.bytes);
    // Not awaited when there is no need: a call is on its way before the next message is read.
    const hasPlace = typeof entered === 'boolean' ? entered : await entered;
    if (!hasPlace) return refusal(new Failure('OVERLOADED'), call.id);
    try {
      return await this.#ask(call, room);
    } finally {
      line.leave();
    }
  }

  async #ask({ method, params, id, bytes }: ClientCall, room: AnswerRoom | null): Promise<Reply> {
    if (!this.#places.take()) return refusal(new Failure('OVERLOADED'), id);
    this.#leaving ??= new AbortController();
    const { answer, failure } = await this.#session
      .call(method, params, bytes, id.length, this.#leaving.signal)
      .finally(() => this.#places.giveBack());
    if (failure !== null) return refusal(failure, id);
    const noRoom = room?.take(answer.body.length) ?? null;
    if (noRoom !== null) return refusal(noRoom, id);
    const pieces: Buffer[] = [];
    pushAnswer(pieces, answer, id);
    return { pieces, asked: true, opened: null };
  }

  async #subscribe({ method, params, id, bytes }: ClientCall, kind: SubscriptionKind): Promise<Reply> {
    const subscription = this.#subscriptions.create(kind);
    const outcome = await this.#session.subscribe(method, params, bytes, subscription);
    if (outcome.opened === null) return refusal(outcome.refusal, id);
    const { opened } = outcome;
    if (!this.#peer.open) {
      opened.close();
      return silence;
    }
    const result = Buffer.from(`${this.#subscriptions.add(subscription, opened)}`);
    return { pieces: resultPieces(result, id), asked: false, opened };
  }

  #unsubscribe({ params, id }: ClientCall, kind: SubscriptionKind): Reply {
    try {
      const wanted = parseRawUnsubscribe(params);
      if (!this.#subscriptions.end(wanted, kind)) throw invalidSubscriptionId();
      return { pieces: resultPieces(TRUE, id), asked: false, opened: null };
    } catch (thrown) {
      if (!(thrown instanceof RpcError)) throw thrown;
      return refusal(thrown, id);
    }
  }
}

const silence: Reply = { pieces: [], asked: false, opened: null };

function resultPieces(body: Buffer, id: Buffer): Buffer[] {
  const pieces: Buffer[] = [];
  pushAnswer(pieces, { body, errorCode: 0 }, id);
  return pieces;
}

function refusal(why: Failure | RpcError, id: Buffer): Reply {
  const pieces: Buffer[] = [];
  if (why instanceof Failure) pushFailure(pieces, why, id);
  else pushAnswer(pieces, { body: errorBody(why), errorCode: why.code }, id);
  return { pieces, asked: false, opened: null };
}
