import {
  type AddressLookupTableAccount,
  Keypair,
  Transaction as LegacyTransaction,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { at, decoded, SOL } from '../../packages/localnet/test/ledger/lab.ts';
import type { Rig } from '../../packages/localnet/test/rig.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import type { TransactionError } from '../../src/solana/transaction/transaction-error.ts';
import { lamports } from '../../src/solana/units.ts';

/** Wallets that send transactions to an embedded ledger, one per slot. */
export class TransactionSender {
  readonly #rig: Rig;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  /** New wallet with lamports visible at once. */
  wallet(sol = 10): Keypair {
    const wallet = Keypair.generate();
    this.#rig.node.airdrop(at(wallet.publicKey), lamports(BigInt(sol * SOL)));
    this.#rig.freeze();
    return wallet;
  }

  /** Sends a legacy transaction paid by the first signer. @returns its signature. */
  send(
    signers: readonly Keypair[],
    instructions: readonly TransactionInstruction[],
    fault: TransactionError | null = null,
  ): string {
    const { blockhash } = this.#rig.node.bank('processed');
    const transaction = new LegacyTransaction({
      recentBlockhash: blockhash,
      feePayer: signers[0]!.publicKey,
    });
    transaction.add(...instructions).sign(...signers);
    this.#submit(transaction.serialize(), fault);
    return encodeBase58(transaction.signature as Uint8Array);
  }

  /** Version 0 with address lookup tables. */
  sendWithTables(
    signers: readonly Keypair[],
    instructions: readonly TransactionInstruction[],
    tables: AddressLookupTableAccount[],
  ): string {
    const recentBlockhash = this.#rig.node.bank('processed').blockhash;
    const payerKey = signers[0]!.publicKey;
    const message = new TransactionMessage({ payerKey, recentBlockhash, instructions: [...instructions] });
    const transaction = new VersionedTransaction(message.compileToV0Message(tables));
    transaction.sign([...signers]);
    this.#submit(transaction.serialize(), null);
    return encodeBase58(transaction.signatures[0] as Uint8Array);
  }

  #submit(wire: Uint8Array, fault: TransactionError | null): void {
    const outcome = this.#rig.node.submit(decoded(wire));
    if (JSON.stringify(outcome) !== JSON.stringify(fault)) {
      throw new Error(`the ledger says ${JSON.stringify(outcome)}`);
    }
    this.#rig.freeze();
  }
}
