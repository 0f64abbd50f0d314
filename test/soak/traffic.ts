import { Keypair, LAMPORTS_PER_SOL, SystemProgram, Transaction } from '@solana/web3.js';
import { encodeBase58 } from '../../src/solana/base58.ts';
import type { SendRequest, Watched } from './ledger-truth.ts';

const SYSTEM = '11111111111111111111111111111111';
const REFRESH_MS = 2_000;
/** Clients wait for the signature of every nth transaction. */
const WAITED_FOR_EACH = 20;

type Expect = (signature: string) => Promise<void>;

export class Traffic {
  readonly payer = Keypair.generate();
  readonly recipients = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
  readonly waitedFor: string[] = [];
  readonly #request: SendRequest;
  #blockhash = '';
  #count = 0;

  constructor(query: SendRequest) {
    this.#request = query;
  }

  get watched(): Watched {
    return {
      account: this.payer.publicKey.toBase58(),
      mentioned: this.recipients[0]!.publicKey.toBase58(),
      program: SYSTEM,
    };
  }

  async fund(): Promise<void> {
    for (const { publicKey } of [this.payer, ...this.recipients]) {
      await this.#request('requestAirdrop', [publicKey.toBase58(), 1_000 * LAMPORTS_PER_SOL]);
    }
    await this.refresh();
  }

  async refresh(): Promise<void> {
    const answer = await this.#request('getLatestBlockhash', [{ commitment: 'confirmed' }]);
    this.#blockhash = (answer as { value: { blockhash: string } }).value.blockhash;
  }

  refreshRepeatedly(): () => void {
    const timer = setInterval(() => void this.refresh().catch(() => {}), REFRESH_MS);
    return () => clearInterval(timer);
  }

  /** @param expect - called before sending, with each signature that clients wait for. */
  async send(expect: Expect): Promise<void> {
    await this.submit(await this.prepareNext(expect));
  }

  /** Signs the next transaction. @param expect - as for `send`. */
  prepareNext(expect: Expect): Promise<string> {
    const isWaitedFor = this.#count % WAITED_FOR_EACH === 0;
    return this.prepare(isWaitedFor ? expect : null);
  }

  /**
   * Signs the next transaction, to be sent later.
   * @param expect - receives its signature; null when no client waits for it.
   */
  async prepare(expect: Expect | null): Promise<string> {
    const count = this.#count++;
    const recipient = this.recipients[count % this.recipients.length]!;
    // Each amount is unique, because equal transactions have the same signature.
    const lamports = (count % 7 === 6 ? 100_000 * LAMPORTS_PER_SOL : 1_000) + count;
    const transfer = { fromPubkey: this.payer.publicKey, toPubkey: recipient.publicKey, lamports };
    const transaction = new Transaction({ recentBlockhash: this.#blockhash, feePayer: this.payer.publicKey });
    transaction.add(SystemProgram.transfer(transfer)).sign(this.payer);
    if (expect !== null) {
      const signature = encodeBase58(transaction.signature!);
      this.waitedFor.push(signature);
      await expect(signature);
    }
    return transaction.serialize().toString('base64');
  }

  /** @param wire - from `prepare`. */
  async submit(wire: string): Promise<void> {
    await this.#request('sendTransaction', [wire, { encoding: 'base64', skipPreflight: true }]);
  }

  async states(): Promise<Map<string, string>> {
    const addresses = [this.payer, ...this.recipients].map(({ publicKey }) => publicKey.toBase58());
    const answer = await this.#request('getMultipleAccounts', [addresses, { commitment: 'confirmed' }]);
    const { value } = answer as { value: readonly { lamports: number }[] };
    return new Map(addresses.map((address, at) => [address, String(value[at]?.lamports)]));
  }
}
