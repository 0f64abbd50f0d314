import { unlessAborted } from '../../../src/base/concurrency/unless-aborted.ts';
import { SocketClient } from '../../service/socket-client.ts';
import { openKit, openWeb3js, openWire } from '../clients.ts';
import { describeFaults, isFaulty, LedgerTruth, type SendRequest, type Watched } from '../ledger-truth.ts';
import { type Outcome, outcomeOf } from '../outcomes.ts';
import { Tally } from '../tally.ts';
import type { FundedWallet } from './funded-wallets.ts';
import { checkRpc, type RpcReply, rpcChecks } from './json-rpc.ts';
import { measuredLoad, type Stretch, type Surface } from './surface.ts';
import type { TransactionsSurface } from './transactions.ts';

const CALL_MAX_MS = 30_000;
/** How long to wait for the last notifications at the end. */
const QUIET_MS = 30_000;

export type WebSocketOptions = Readonly<{
  /** URL that includes the API key. */
  url: string;
  rpcUrl: string;
  /** Sends requests directly to the ledger. */
  requestLedger: SendRequest;
  watched: Watched;
  wallets: readonly FundedWallet[];
  listeners: number;
  callsPerSecond: number;
  sent: Pick<TransactionsSurface, 'traffic' | 'sentAt'>;
}>;

/** Calls `take` with each notification of a subscription. */
async function follow<Result>(
  socket: SocketClient,
  method: string,
  params: readonly unknown[],
  take: (result: Result) => void,
): Promise<void> {
  const id = await socket.result<number>(method, params);
  const read = async (): Promise<never> => {
    for (;;) take((await socket.next<Result>(id)).result);
  };
  void read();
}

export async function webSocketSurface(
  options: WebSocketOptions,
): Promise<Surface & { expect: (signature: string) => Promise<void> }> {
  const { url, rpcUrl, requestLedger, watched, callsPerSecond, sent } = options;
  const calls = new Tally('WebSocket calls', 'answers');
  const received = new Tally('WebSocket notifications', 'messages');
  const clients = [await openWire(url, watched), await openKit(url, watched)];
  clients.push(openWeb3js(rpcUrl, url, watched));
  const checks = rpcChecks(options.wallets);
  const faults: string[] = [];
  let sentCalls = 0;

  const listeners: { socket: SocketClient; slots: number }[] = [];
  for (let number = 1; number <= options.listeners; number++) {
    const socket = await SocketClient.open(url);
    socket.socket.on('close', (code) => faults.push(`listener ${number} was closed with ${code}`));
    const listener = { socket, slots: 0 };
    let last: number | null = null;
    await follow(socket, 'slotSubscribe', [], ({ slot, parent }: { slot: number; parent: number }) => {
      received.took();
      listener.slots++;
      if (last !== null && parent !== last)
        faults.push(`listener ${number} received slot ${slot} on ${parent} after ${last}`);
      last = slot;
    });
    listeners.push(listener);
  }
  const socket = await SocketClient.open(url);
  const logs = [{ mentions: [watched.account] }, { commitment: 'processed' }];
  await follow(socket, 'logsSubscribe', logs, ({ value }: { value: { signature: string } }) => {
    const sentAt = sent.sentAt.get(value.signature);
    received.took(sentAt === undefined ? undefined : performance.now() - sentAt);
  });

  const call = async (): Promise<void> => {
    const check = checks[sentCalls++ % checks.length]!;
    const answer = socket.call(check.method, check.params);
    const reply = await unlessAborted(answer, AbortSignal.timeout(CALL_MAX_MS));
    // The client has already matched the id.
    checkRpc(check, reply as RpcReply, reply.id, calls);
  };
  const checkClients = async ({ started, stopped }: Stretch): Promise<Outcome> => {
    const truth = new LedgerTruth(requestLedger, watched);
    await truth.read(started, stopped);
    const states = await sent.traffic.states();
    const incoming = clients.flatMap((client) => client.received);
    const results = await truth.checkAll(incoming, sent.traffic.waitedFor, states, QUIET_MS);
    const count = results.reduce((sum, result) => sum + result.received, 0);
    return outcomeOf(
      '@solana/kit, @solana/web3.js and a plain client miss nothing, receive nothing twice, and no slot decreases',
      `${count} notifications of ${results.length} subscriptions`,
      results.filter(isFaulty).map(describeFaults),
    );
  };
  const checkListeners = (): Outcome => {
    const silent = listeners.filter(({ slots }) => slots === 0).length;
    return outcomeOf(
      'Sockets stay open and receive every slot',
      `${listeners.length} sockets, ${listeners.reduce((sum, { slots }) => sum + slots, 0)} slots`,
      [...faults, ...(silent === 0 ? [] : [`${silent} sockets received nothing`])],
    );
  };
  return {
    tallies: [calls, received],
    load: measuredLoad(calls, callsPerSecond, call),
    check: async (stretch) => [await checkClients(stretch), checkListeners()],
    close: () => {
      for (const client of clients) client.close();
      for (const each of [socket, ...listeners.map((one) => one.socket)]) each.socket.terminate();
    },
    expect: async (signature) => void (await Promise.all(clients.map((client) => client.expect(signature)))),
  };
}
