import { address } from '../../../src/solana/address.ts';
import { udpDropsOf } from '../figures/udp-drops.ts';
import type { Watched } from '../ledger-truth.ts';
import { ControlSurface } from './control.ts';
import type { FundedWallet } from './funded-wallets.ts';
import { GrpcSurface } from './grpc.ts';
import { JsonRpcSurface } from './json-rpc.ts';
import { MetricsSurface } from './metrics.ts';
import { OperatorSession } from './operator-session.ts';
import { RestSurface } from './rest.ts';
import { SentTransactions } from './sent-transactions.ts';
import { ShredStageSurface } from './shred-stage.ts';
import type { SoakedService } from './soaked-service.ts';
import type { Stretch, Surface } from './surface.ts';
import { WebSocketSurface } from './websocket.ts';

/** Requests per second, and sockets with subscriptions, at rate 1. */
const usual = {
  jsonRpc: 60,
  transactions: 10,
  webSocketCalls: 20,
  listeners: 20,
  rest: 10,
  grpcCalls: 10,
  control: 2,
} as const;
/** Constant, since its metrics are part of the report. */
const METRICS_PER_SECOND = 1;
const SYSTEM = '11111111111111111111111111111111';

export type OpenSurfaces = Readonly<{
  all: readonly Surface[];
  metrics: MetricsSurface;
  /** Subscriptions, as text. */
  held: string;
}>;

/**
 * Opens clients of all interfaces, which only have subscriptions at first.
 * @param rate - multiple of the usual load.
 */
export async function openSurfaces(
  service: SoakedService,
  wallets: readonly FundedWallet[],
  rate: number,
): Promise<OpenSurfaces> {
  const { running, request, requestLedger, keyOf } = service;
  const { url, rpcUrl, wsUrl, grpcUrl } = running.ready;
  const key = keyOf('rpc');
  const sent = new SentTransactions({
    ...{ request, perSecond: usual.transactions * rate },
    expect: (signature) => webSocket.expect(signature),
    landed: (stretch) => grpc.landed(stretch),
  });
  await sent.traffic.fund();
  const { payer, recipients } = sent.traffic;
  const watched: Watched = {
    account: payer.publicKey.toBase58(),
    mentioned: recipients[0]!.publicKey.toBase58(),
    program: SYSTEM,
  };
  const owed = (stretch: Stretch): string[] =>
    grpc.landed(stretch).filter((signature) => sent.sentAt.has(signature));
  const streams = { url: grpcUrl, payer: address(watched.account), sentAt: sent.sentAt, owed };
  const grpc = new GrpcSurface({
    ...{ ...streams, key: keyOf('grpc'), requestLedger, callsPerSecond: usual.grpcCalls * rate },
  });
  const shreds = await ShredStageSurface.open({
    ...streams,
    key: keyOf('fs'),
    standardKey: keyOf('grpc'),
    droppedPackets: () => udpDropsOf(running.process.pid ?? 0),
  });
  const withKey = `?api-key=${key}`;
  const webSocket = await WebSocketSurface.open({
    ...{
      url: wsUrl + withKey,
      rpcUrl: rpcUrl + withKey,
      requestLedger,
      watched,
      wallets,
      sentAt: sent.sentAt,
    },
    ...{ waitedFor: sent.traffic.waitedFor, states: () => sent.traffic.states() },
    callsPerSecond: usual.webSocketCalls * rate,
    listeners: Math.max(1, Math.round(usual.listeners * rate)),
  });
  const session = await OperatorSession.open(url, service.setupUrl);
  const metrics = new MetricsSurface(url, service.metricsToken, METRICS_PER_SECOND);
  const all = [
    new JsonRpcSurface({ url: rpcUrl, key, wallets, perSecond: usual.jsonRpc * rate }),
    ...[sent, webSocket],
    new RestSurface({ url, key, wallets, perSecond: usual.rest * rate }),
    ...[grpc, shreds],
    new ControlSurface(session, usual.control * rate),
    metrics,
  ];
  return { all, metrics, held: `${webSocket.held}; ${grpc.held}; ${shreds.held}` };
}
