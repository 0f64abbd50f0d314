import * as kit from '@solana/kit';
import { Connection, PublicKey } from '@solana/web3.js';
import { SocketClient } from '../service/socket-client.ts';
import { type Kind, ReceivedNotifications, type Watched } from './ledger-truth.ts';

/** A client that subscribes to everything it supports. */
export type LedgerClient = Readonly<{
  received: readonly ReceivedNotifications[];
  expect: (signature: string) => Promise<void>;
  close: () => void;
}>;

const commitment = 'confirmed';

export async function openWire(url: string, watched: Watched): Promise<LedgerClient> {
  const socket = await SocketClient.open(url);
  const received: ReceivedNotifications[] = [];
  void socket.ended.then(({ code, reason }) => {
    for (const incoming of received) incoming.ended ??= `closed with ${code} ${reason}`;
  });
  const follow = async (incoming: ReceivedNotifications, id: number, name?: string): Promise<never> => {
    for (;;) incoming.note((await socket.next(id)).result, name);
  };
  const { account, mentioned, program } = watched;
  const subscriptions: [Kind, method: string, params: unknown[]][] = [
    ['account', 'account', [account, { commitment, encoding: 'base64' }]],
    ['program', 'program', [program, { commitment, encoding: 'base64', filters: [{ dataSize: 0 }] }]],
    ['logs', 'logs', ['all', { commitment }]],
    ['mentions', 'logs', [{ mentions: [mentioned] }, { commitment }]],
    ['slot', 'slot', []],
    ['root', 'root', []],
    ['block', 'block', ['all', { commitment, transactionDetails: 'signatures' }]],
    [
      'transaction',
      'transaction',
      [
        { vote: false, accountInclude: [mentioned] },
        { commitment, transactionDetails: 'signatures' },
      ],
    ],
  ];
  for (const [kind, method, params] of subscriptions) {
    const incoming = new ReceivedNotifications('wire', kind);
    received.push(incoming);
    void follow(incoming, await socket.result<number>(`${method}Subscribe`, params), account);
  }
  const signatures = new ReceivedNotifications('wire', 'signature');
  received.push(signatures);
  return {
    received,
    expect: async (signature) => {
      const id = await socket.result<number>('signatureSubscribe', [signature, { commitment }]);
      void follow(signatures, id, signature);
    },
    close: () => void socket.close(),
  };
}

type Pending = { subscribe(options: { abortSignal: AbortSignal }): Promise<AsyncIterable<unknown>> };

/** The published @solana/kit. */
export async function openKit(url: string, watched: Watched): Promise<LedgerClient> {
  const rpc = kit.createSolanaRpcSubscriptions_UNSTABLE(url);
  const end = new AbortController();
  const received: ReceivedNotifications[] = [];
  const drain = async (pending: Pending, incoming: ReceivedNotifications, name: string): Promise<void> => {
    const reported = await pending.subscribe({ abortSignal: AbortSignal.any([end.signal]) });
    const read = async (): Promise<void> => {
      for await (const one of reported) incoming.note(one, name);
    };
    void read().catch((fault: unknown) => {
      if (incoming.kind !== 'signature') incoming.ended = String(fault);
    });
  };
  const { account, mentioned, program } = watched;
  const encoding = 'base64';
  const filters = [{ dataSize: 0n }];
  const mentions: [kit.Address] = [kit.address(mentioned)];
  const subscriptions: [Kind, Pending][] = [
    ['account', rpc.accountNotifications(kit.address(account), { commitment, encoding })],
    ['program', rpc.programNotifications(kit.address(program), { commitment, encoding, filters })],
    ['logs', rpc.logsNotifications('all', { commitment })],
    ['mentions', rpc.logsNotifications({ mentions }, { commitment })],
    ['slot', rpc.slotNotifications()],
    ['root', rpc.rootNotifications()],
    ['block', rpc.blockNotifications('all', { commitment, transactionDetails: 'signatures' })],
  ];
  for (const [kind, pending] of subscriptions) {
    const incoming = new ReceivedNotifications('kit', kind);
    received.push(incoming);
    await drain(pending, incoming, account);
  }
  const signatures = new ReceivedNotifications('kit', 'signature');
  received.push(signatures);
  return {
    received,
    expect: (signature) =>
      drain(rpc.signatureNotifications(kit.signature(signature), { commitment }), signatures, signature),
    close: () => end.abort(),
  };
}

type Socket = Readonly<{ removeAllListeners: (event: string) => void; close: () => void }>;

/** The published @solana/web3.js v1. It has no block subscription and does not report when a subscription is active. */
export function openWeb3js(rpcUrl: string, wsEndpoint: string, watched: Watched): LedgerClient {
  const options = { wsEndpoint, commitment, disableRetryOnRateLimit: true } as const;
  const connection = new Connection(rpcUrl, options);
  const of = (kind: Kind) => new ReceivedNotifications('web3.js v1', kind);
  const [accounts, programs] = [of('account'), of('program')];
  const [logs, mentions] = [of('logs'), of('mentions')];
  const [slots, roots, signatures] = [of('slot'), of('root'), of('signature')];
  const { account, mentioned, program } = watched;
  connection.onAccountChange(new PublicKey(account), ({ lamports }, { slot }) =>
    accounts.add(slot, account, String(lamports)),
  );
  connection.onProgramAccountChange(
    new PublicKey(program),
    ({ accountId, accountInfo }, { slot }) =>
      programs.add(slot, accountId.toBase58(), String(accountInfo.lamports)),
    { commitment, encoding: 'base64', filters: [{ dataSize: 0 }] },
  );
  connection.onLogs('all', ({ signature }, { slot }) => logs.add(slot, signature));
  connection.onLogs(new PublicKey(mentioned), ({ signature }, { slot }) => mentions.add(slot, signature));
  connection.onSlotChange(({ slot }) => slots.note({ slot }));
  connection.onRootChange((root) => roots.note(root));
  return {
    received: [accounts, programs, logs, mentions, slots, roots, signatures],
    expect: async (signature) =>
      void connection.onSignature(
        signature,
        (_result, { slot }) => signatures.add(slot, signature),
        commitment,
      ),
    close: () => {
      // It has no close method and reconnects when its socket closes.
      const { _rpcWebSocket: socket } = connection as unknown as { _rpcWebSocket: Socket };
      socket.removeAllListeners('close');
      socket.close();
    },
  };
}
