import type { Failure } from '../../protocol/errors.ts';
import type { SubscribeDeshredRequest } from '../../protocol/geyser/subscribe-deshred-request.ts';
import type { SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { filtersCount, pubkeysCount } from '../../streams/geyser/filters/request-size.ts';
import type { StreamRpc } from '../../streams/geyser/geyser-handler.ts';
import type { GeyserSink } from '../../streams/geyser/geyser-sink.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import type { LiveConnection } from '../telemetry/live-connections.ts';

type StreamRequest = SubscribeRequest & SubscribeDeshredRequest;

/** The filters of a request by their kinds, in words of the wire: `accounts 2`, `slots 1`. */
function describeRequest(request: SubscribeRequest | SubscribeDeshredRequest): string[] {
  const {
    accounts,
    slots,
    transactions,
    transactionsStatus,
    blocks,
    blocksMeta,
    entry,
    deshredTransactions,
  } = request as StreamRequest;
  const counts = {
    accounts: accounts?.size,
    slots: slots?.size,
    transactions: transactions?.size,
    transactions_status: transactionsStatus?.size,
    blocks: blocks?.size,
    blocks_meta: blocksMeta?.length,
    entry: entry?.length,
    deshred_transactions: deshredTransactions?.size,
    addresses: pubkeysCount(request),
  };
  return Object.entries(counts).flatMap(([kind, count]) => ((count ?? 0) > 0 ? [`${kind} ${count}`] : []));
}

/** A gRPC stream as lists of connections show it. */
export class LiveStream implements LiveConnection {
  readonly kind = 'grpc';
  readonly rpc: StreamRpc;
  readonly key: KeyRecord;
  readonly address: string;
  readonly end: (failure: Failure) => void;
  messages = 0;
  bytes = 0;
  subscriptions = 0;
  #describe: readonly string[] = [];
  readonly #sink: GeyserSink;

  /** @param end - ends the stream. */
  constructor(
    rpc: StreamRpc,
    key: KeyRecord,
    address: string,
    sink: GeyserSink,
    end: (failure: Failure) => void,
  ) {
    this.rpc = rpc;
    this.key = key;
    this.address = address;
    this.#sink = sink;
    this.end = end;
  }

  get queuedMessages(): number {
    return this.#sink.waitingMessages ?? 0;
  }

  get queuedBytes(): number {
    return this.#sink.waitingBytes ?? 0;
  }

  /** It asks for this now. */
  update(request: SubscribeRequest | SubscribeDeshredRequest): void {
    this.subscriptions = filtersCount(request);
    this.#describe = describeRequest(request);
  }

  describe(max: number): string[] {
    return this.#describe.slice(0, max);
  }
}
