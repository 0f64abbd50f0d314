import type { Call, PendingCall, ResponseHandler, RpcDispatcher } from '../../protocol/call.ts';
import { readsMatching } from '../../protocol/method-patterns.ts';
import { QuorumRead, type QuorumReadParts } from './quorum-read.ts';

/** Sends reads of chosen methods to several nodes, whose responses must agree. Forwards all other calls. */
export class QuorumReads implements RpcDispatcher {
  readonly #next: RpcDispatcher;
  readonly #methods: ReadonlySet<string>;
  readonly #parts: QuorumReadParts;

  /** @param parts.methods - patterns of methods. */
  constructor(next: RpcDispatcher, parts: QuorumReadParts & Readonly<{ methods: readonly string[] }>) {
    this.#next = next;
    this.#methods = readsMatching(parts.methods);
    this.#parts = parts;
  }

  dispatch(call: Call, handler: ResponseHandler): PendingCall {
    if (!this.#methods.has(call.method)) return this.#next.dispatch(call, handler);
    const read = new QuorumRead(call, handler, this.#parts);
    read.start();
    return read;
  }
}
