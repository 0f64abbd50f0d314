import { Connection, PublicKey } from '@solana/web3.js';
import type { Watched } from './ledger-truth.ts';
import { type Kind, ReceivedNotifications } from './received.ts';

type Socket = Readonly<{ removeAllListeners: (event: string) => void; close: () => void }>;

/** @solana/web3.js v1 as published. It has no block subscription. */
export class Web3jsClient {
  readonly received: ReceivedNotifications[] = [];
  readonly #connection: Connection;

  constructor(rpcUrl: string, wsEndpoint: string, { account, mentioned, program }: Watched) {
    const connection = new Connection(rpcUrl, {
      wsEndpoint,
      commitment: 'confirmed',
      disableRetryOnRateLimit: true,
    });
    this.#connection = connection;
    const accounts = this.#received('account');
    connection.onAccountChange(new PublicKey(account), ({ lamports }, { slot }) =>
      accounts.add(slot, account, String(lamports)),
    );
    const programs = this.#received('program');
    connection.onProgramAccountChange(
      new PublicKey(program),
      ({ accountId, accountInfo }, { slot }) =>
        programs.add(slot, accountId.toBase58(), String(accountInfo.lamports)),
      { commitment: 'confirmed', encoding: 'base64', filters: [{ dataSize: 0 }] },
    );
    const logs = this.#received('logs');
    connection.onLogs('all', ({ signature }, { slot }) => logs.add(slot, signature));
    const mentions = this.#received('mentions');
    connection.onLogs(new PublicKey(mentioned), ({ signature }, { slot }) => mentions.add(slot, signature));
    const slots = this.#received('slot');
    connection.onSlotChange(({ slot }) => slots.add(slot, String(slot)));
    const roots = this.#received('root');
    connection.onRootChange((root) => roots.add(root, String(root)));
    this.#received('signature');
  }

  /** Waits for a transaction. */
  expect(signature: string): void {
    const received = this.received.find(({ kind }) => kind === 'signature')!;
    this.#connection.onSignature(
      signature,
      (_result, { slot }) => received.add(slot, signature),
      'confirmed',
    );
  }

  close(): void {
    // It has no close method and reconnects when its socket closes.
    const { _rpcWebSocket: socket } = this.#connection as unknown as { _rpcWebSocket: Socket };
    socket.removeAllListeners('close');
    socket.close();
  }

  #received(kind: Kind): ReceivedNotifications {
    const received = new ReceivedNotifications('web3.js v1', kind);
    this.received.push(received);
    return received;
  }
}
