import type { Exchange, Posted, Question } from '../../../src/upstream/exchange.ts';
import type { UpstreamLimits } from '../../../src/upstream/limits.ts';
import { UpstreamNode } from '../../../src/upstream/node.ts';

const late: Exchange = {
  kind: 'transport',
  bytesLeft: true,
  timedOut: true,
  cause: new Error('no answer in time'),
};

/** A node without connections: what it is asked is held until it is told how that ends. */
export class HeldNode extends UpstreamNode {
  /** What it is being asked. */
  readonly held: Question[] = [];
  /** How often it was asked. */
  asked = 0;

  constructor(name: string, limits: UpstreamLimits) {
    super({ name, url: 'http://127.0.0.1:1' }, 'devnet', limits);
  }

  override post(question: Question): Posted {
    this.asked++;
    this.held.push(question);
    return {
      abort: () => this.end(question, { kind: 'aborted', bytesLeft: true }),
      expire: () => this.end(question, late),
    };
  }

  /** Ends a question, if it has not ended. */
  end(question: Question, exchange: Exchange): void {
    const at = this.held.indexOf(question);
    if (at < 0) return;
    this.held.splice(at, 1);
    question.exchanged(exchange);
  }

  /** Answers a question with the member of a JSON-RPC answer. */
  answer(question: Question, member: string): void {
    const body = Buffer.from(`{"jsonrpc":"2.0",${member},"id":${question.id}}`);
    this.end(question, { kind: 'response', status: 200, retryAfter: null, body });
  }
}
