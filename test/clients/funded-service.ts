import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  SystemProgram,
  Transaction,
} from '@solana/web3.js';
import type { Product } from '../../src/protocol/product.ts';
import { temporaryFolder } from '../service/program.ts';
import { type RunningService, startService } from '../service/start-service.ts';

export class FundedService {
  readonly payer = Keypair.generate();
  readonly service: RunningService;
  readonly connection: Connection;

  private constructor(service: RunningService) {
    this.service = service;
    this.connection = new Connection(service.ready.rpcUrl, {
      commitment: 'confirmed',
      wsEndpoint: `${service.ready.wsUrl}?api-key=${service.key}`,
      httpHeaders: { authorization: `Bearer ${service.key}` },
    });
  }

  /**
   * @param slotMs - slot time of the embedded ledger. @param more - more configuration lines.
   * @param dataDir - may contain an existing ledger; default: a new one.
   */
  static async start(slotMs = 50, more = '', dataDir = temporaryFolder('service')): Promise<FundedService> {
    const configuration = `[localnet]\nslot_ms = ${slotMs}\n${more}`;
    const funded = new FundedService(await startService({ configuration, dataDir }));
    const { connection, payer } = funded;
    const signature = await connection.requestAirdrop(payer.publicKey, 1_000 * LAMPORTS_PER_SOL);
    await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) });
    return funded;
  }

  keyOf(product: Product): string {
    return this.service.ready.keys.find((key) => key.product === product)?.key ?? '';
  }

  /** A signed transfer that is not sent yet. */
  async transfer(to: PublicKey, lamports: number): Promise<Transaction> {
    const { blockhash } = await this.connection.getLatestBlockhash();
    const transaction = new Transaction({ recentBlockhash: blockhash, feePayer: this.payer.publicKey });
    transaction.add(SystemProgram.transfer({ fromPubkey: this.payer.publicKey, toPubkey: to, lamports }));
    transaction.sign(this.payer);
    return transaction;
  }

  /** Sends without preflight. @returns the signature. */
  async send(transaction: Transaction): Promise<Buffer> {
    await this.connection.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
    return transaction.signature!;
  }

  /** Sends and waits for confirmation. @returns the signature. */
  async confirmed(transaction: Transaction): Promise<string> {
    const signature = await this.connection.sendRawTransaction(transaction.serialize());
    const { value } = await this.connection.confirmTransaction({
      signature,
      ...(await this.connection.getLatestBlockhash()),
    });
    if (value.err !== null) throw new Error(`the transaction failed: ${JSON.stringify(value.err)}`);
    return signature;
  }

  async finalized(signature: string): Promise<void> {
    const latest = await this.connection.getLatestBlockhash();
    await this.connection.confirmTransaction({ signature, ...latest }, 'finalized');
  }

  async stop(): Promise<void> {
    (this.connection as unknown as { _rpcWebSocket: { close(): void } })._rpcWebSocket.close();
    await this.service.stop();
  }
}
