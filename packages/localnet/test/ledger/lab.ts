import { rmSync } from 'node:fs';
import {
  type AddressLookupTableAccount,
  Keypair,
  Transaction as LegacyTransaction,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { type Address, address } from '../../../../src/solana/address.ts';
import type { Transaction } from '../../../../src/solana/transaction/transaction.ts';
import type { TransactionError } from '../../../../src/solana/transaction/transaction-error.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { eventually } from '../../../../test/service/eventually.ts';
import { temporaryFolder } from '../../../../test/service/program.ts';
import { decoded } from '../../../../test/solana/decoded-transaction.ts';
import { type LocalNodeOptions, type OpenLocalNode, openLocalNode } from '../../src/genesis/open.ts';

export const SOL = 1_000_000_000;

export const at = (key: PublicKey): Address => address(key.toBase58());

/** Ledger in its own directory with manual slots. */
export class Lab {
  readonly dir: string;
  node: OpenLocalNode;

  private constructor(dir: string, node: OpenLocalNode) {
    this.dir = dir;
    this.node = node;
  }

  static async open(options: Partial<LocalNodeOptions> = {}): Promise<Lab> {
    const dir = temporaryFolder('ledger');
    return new Lab(dir, await openLocalNode({ ledgerDir: dir, manual: true, ...options }));
  }

  async reopen(options: Partial<LocalNodeOptions> = {}): Promise<void> {
    await this.node.stop();
    this.node = await openLocalNode({ ledgerDir: this.dir, manual: true, ...options });
  }

  async close(): Promise<void> {
    await this.node.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  freeze(slots = 1): void {
    for (let i = 0; i < slots; i++) this.node.freeze();
  }

  async durable(): Promise<void> {
    const tip = this.node.bank('processed').slot;
    await eventually(async () => this.node.durableSlot >= tip, 'the tip is durable');
  }

  get blockhash(): string {
    return this.node.bank('processed').blockhash;
  }

  /** New wallet with lamports visible at once. */
  wallet(sol = 10): Keypair {
    const wallet = Keypair.generate();
    this.node.airdrop(at(wallet.publicKey), lamports(BigInt(sol * SOL)));
    this.freeze();
    return wallet;
  }

  legacy(
    signers: Keypair[],
    instructions: TransactionInstruction[],
    blockhash = this.blockhash,
  ): Transaction {
    const transaction = new LegacyTransaction({
      recentBlockhash: blockhash,
      feePayer: signers[0]!.publicKey,
    });
    transaction.add(...instructions).sign(...signers);
    return decoded(transaction.serialize());
  }

  versioned(
    signers: Keypair[],
    instructions: TransactionInstruction[],
    tables: AddressLookupTableAccount[],
  ): Transaction {
    const payerKey = signers[0]!.publicKey;
    const message = new TransactionMessage({ payerKey, recentBlockhash: this.blockhash, instructions });
    const transaction = new VersionedTransaction(message.compileToV0Message(tables));
    transaction.sign(signers);
    return decoded(transaction.serialize());
  }

  transfer(from: Keypair, to: PublicKey, amount: number, blockhash = this.blockhash): Transaction {
    const instruction = SystemProgram.transfer({
      fromPubkey: from.publicKey,
      toPubkey: to,
      lamports: amount,
    });
    return this.legacy([from], [instruction], blockhash);
  }

  payment(from: Keypair, to: Keypair): TransactionInstruction {
    return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to.publicKey, lamports: SOL });
  }

  run(signers: Keypair[], instructions: TransactionInstruction[]): TransactionError | null {
    const err = this.node.submit(this.legacy(signers, instructions));
    this.freeze();
    return err;
  }

  balance(key: PublicKey, commitment: 'processed' | 'confirmed' | 'finalized' = 'processed'): bigint | null {
    return this.node.bank(commitment).account(at(key))?.lamports ?? null;
  }
}
