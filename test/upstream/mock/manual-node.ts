import type { Exchange, NodeRequest, PendingRequest } from '../../../src/upstream/exchange.ts';
import type { UpstreamLimits } from '../../../src/upstream/limits.ts';
import { UpstreamNode } from '../../../src/upstream/node.ts';

const timedOut: Exchange = {
  kind: 'transport',
  wasSent: true,
  timedOut: true,
};

export class ManualNode extends UpstreamNode {
  readonly pending: NodeRequest[] = [];
  requestCount = 0;

  constructor(name: string, limits: UpstreamLimits) {
    super({ name, url: 'http://127.0.0.1:1' }, 'devnet', limits);
  }

  override send(request: NodeRequest): PendingRequest {
    this.requestCount++;
    this.pending.push(request);
    return {
      abort: () => this.end(request, { kind: 'aborted', wasSent: true }),
      expire: () => this.end(request, timedOut),
    };
  }

  end(request: NodeRequest, exchange: Exchange): void {
    const at = this.pending.indexOf(request);
    if (at < 0) return;
    this.pending.splice(at, 1);
    request.onExchange(exchange);
  }

  respond(request: NodeRequest, member: string): void {
    const body = Buffer.from(`{"jsonrpc":"2.0",${member},"id":${request.id}}`);
    this.end(request, { kind: 'response', status: 200, retryAfter: null, body });
  }
}
