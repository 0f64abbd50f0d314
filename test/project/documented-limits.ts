import { snsLimits } from '../../src/decoding/sns/domains.ts';
import { holdingsLimits } from '../../src/decoding/token/token-holdings.ts';
import { defaultPlanLimits as plan } from '../../src/gateway/auth/key-record.ts';
import { messageRateOptions } from '../../src/gateway/limits/message-rate-limiter.ts';
import { confirmationLimits } from '../../src/gateway/rest/confirmations.ts';
import { restLimits } from '../../src/gateway/rest/limits.ts';
import { subscriptionLimits } from '../../src/gateway/websocket/subscription-limits.ts';
import { topicHubOptions } from '../../src/gateway/websocket/topic-hub.ts';
import { FILTER_ADDRESSES_MAX } from '../../src/protocol/pubsub/parse-subscription.ts';
import { envelopeLimits } from '../../src/protocol/request-envelope.ts';
import { nftListLimits } from '../../src/rest-api/nft/load-nfts.ts';
import { grpcServerOptions } from '../../src/servers/grpc/options.ts';
import { httpOptions } from '../../src/servers/http/options.ts';
import { uploadLimits } from '../../src/servers/rest/multipart.ts';
import { restServerOptions } from '../../src/servers/rest/server.ts';
import { rpcServerOptions } from '../../src/servers/rpc/options.ts';
import { webSocketOptions } from '../../src/servers/websocket/options.ts';
import { geyserHubOptions } from '../../src/streams/geyser/geyser-hub-options.ts';
import { defaultUpstreamLimits } from '../../src/upstream/limits.ts';

const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
const bytes = (value: number): string => `${number(value)} bytes`;
const seconds = (ms: number): string => `${number(ms / 1_000)} s`;

/** Labels and defaults of the limits that the reference lists, by block. */
export const documentedLimits: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'json-rpc-limits': {
    'Request body': bytes(rpcServerOptions.bodyMaxBytes),
    'Calls and notifications in a batch': number(envelopeLimits.batchMax),
    'Responses of a batch, together': bytes(rpcServerOptions.batchResponsesMaxBytes),
    'Calls of a batch in flight': number(rpcServerOptions.batchConcurrency),
    'Length of `id`': bytes(envelopeLimits.idMaxBytes),
    'Nesting depth of the body': number(envelopeLimits.depthMax),
    'HTTP headers': bytes(httpOptions.headersMaxBytes),
    'Time to receive the headers': seconds(httpOptions.headersTimeoutMs),
    'Time to receive the request': seconds(httpOptions.requestTimeoutMs),
    'One call, all attempts': seconds(defaultUpstreamLimits.timeoutMs),
    Response: bytes(defaultUpstreamLimits.responseMaxBytes),
    'Idle connection': seconds(httpOptions.keepAliveTimeoutMs),
  },
  'websocket-limits': {
    'Connections per key family': number(plan.wsConnectionsMax),
    'Subscriptions per connection': number(plan.wsSubscriptionsMax),
    'Subscriptions per key family': number(subscriptionLimits.keySubscriptionsMax),
    'Addresses in the subscriptions of a key family': number(subscriptionLimits.keyAddressesMax),
    'Messages per second and key': number(messageRateOptions.messagesPerSecond),
    'Client message': bytes(plan.wsMessageMaxBytes),
    'Calls in a batch': number(envelopeLimits.batchMax),
    'Calls in flight per connection': number(webSocketOptions.callsInFlightMax),
    'Queued bytes per connection': bytes(webSocketOptions.queueMaxBytes),
    'Ping interval': seconds(webSocketOptions.pingIntervalMs),
    'Pong timeout': seconds(webSocketOptions.pongTimeoutMs),
    'Idle timeout': seconds(webSocketOptions.idleTimeoutMs),
    'Time to open a subscription': seconds(topicHubOptions.openTimeoutMs),
    'Addresses in one list of transactionSubscribe': number(FILTER_ADDRESSES_MAX),
  },
  'rest-limits': {
    'Requests per minute, key family and endpoint group': number(restLimits.requestsPerMinute),
    'Requests in flight per key family': number(restLimits.keyInFlightMax),
    'Time for a request': seconds(restLimits.timeoutMs),
    'Time for an upload': seconds(restLimits.uploadTimeoutMs),
    'Wait of `transaction/send_many_txns`': seconds(confirmationLimits.waitMaxMs),
    'JSON body': bytes(restServerOptions.bodyMaxBytes),
    'File in `storage/upload`': bytes(uploadLimits.fileMaxBytes),
    'Non-empty token accounts of a wallet': number(holdingsLimits.accountsMax),
    'NFTs in `nft/read_all_v1`': number(nftListLimits.unpagedMax),
    'NFTs that `nft/search` examines for attributes': number(nftListLimits.searchedMax),
    'NFTs in `wallet/collections`': number(nftListLimits.groupedMax),
    'Domains in `wallet/get_domains`': number(snsLimits.domainsMax),
  },
  'grpc-limits': {
    'Streams per key family': number(plan.grpcStreamsMax),
    'Filters in a request': number(plan.grpcFiltersMax),
    'Block filters in a request': number(plan.grpcBlocksMax),
    'Addresses in a request': number(plan.grpcPubkeysMax),
    'Cuckoo filters in a request': bytes(plan.grpcCuckooMaxBytes),
    'Request message': bytes(grpcServerOptions.messageMaxBytes),
    'Open calls per connection': number(grpcServerOptions.streamsPerConnectionMax),
    'Queued messages per stream': number(grpcServerOptions.queueMaxMessages),
    'Queued bytes per stream': bytes(grpcServerOptions.queueMaxBytes),
    'Unfinished blocks per stream': number(geyserHubOptions.blocksWaitingMax),
    'Messages queued behind them': number(geyserHubOptions.behindBlocksMaxMessages),
    'Bytes queued behind them': bytes(geyserHubOptions.behindBlocksMaxBytes),
    'Messages per second and key': number(messageRateOptions.messagesPerSecond),
    'Slots available to `from_slot`': number(geyserHubOptions.replaySlots),
  },
};
