import type { JsonValue } from '../base/json.ts';
import type { NftDas, NftOffChain } from '../decoding/nft/nft.ts';
import type { TokenList } from '../decoding/token/token-list.ts';
import type { Network } from '../protocol/call.ts';
import type { Commitment } from '../protocol/commitment.ts';
import type { Failure } from '../protocol/errors.ts';
import type { Address } from '../solana/address.ts';
import type { Blockhash } from '../solana/blockhash.ts';
import type { Signature } from '../solana/signature.ts';

/**
 * What endpoints stand on besides the chain. Whoever assembles the service hands it in; each is described here as
 * endpoints need it, and kept elsewhere.
 */

/** JSON that tokens and NFTs point at, off the chain. */
export interface OffChain extends NftOffChain {
  /** Forgets what is kept of a URI, so that the next `read` fetches it. */
  forget(uri: string): void;
}

/** Files under their content identifiers. */
interface FileStorage {
  /**
   * Stores a file while it comes, or one that is here whole, which waits for none that comes. `ownerId` is the key
   * family that sends it.
   * @returns its content identifier, and where it can be had.
   * @throws Failure FILE_TOO_LARGE, STORAGE_FULL, STORAGE_UNAVAILABLE, OVERLOADED when too many files are coming, or
   * what `bytes` throws; nothing is left then.
   */
  put(
    bytes: AsyncIterable<Uint8Array> | Uint8Array,
    about: Readonly<{ name: string | null; type: string; ownerId: string }>,
    signal: AbortSignal,
  ): Promise<Readonly<{ cid: string; uri: string }>>;
}

/** Keypairs of which the secret half is kept encrypted under a password that is not kept. rest-api.md §5 */
export interface SemiWallets {
  /** @throws Failure WALLETS_FULL. */
  create(ownerId: string, password: string): Promise<Address>;
  /**
   * What the owner's program decrypts; null for a wallet that this owner has not.
   * @throws Failure WRONG_PASSWORD, TOO_MANY_TRIES.
   */
  decrypt(
    ownerId: string,
    wallet: Address,
    password: string,
  ): Promise<Readonly<{ encryptedPrivateKey: string; decryptionKey: string }> | null>;
  /** The secret key in clear, 64 bytes in base58; as `decrypt` otherwise. */
  keypair(
    ownerId: string,
    wallet: Address,
    password: string,
  ): Promise<Readonly<{ publicKey: Address; secretKey: string }> | null>;
  /** @returns whether there was such a wallet; as `decrypt` otherwise. */
  changePassword(ownerId: string, wallet: Address, from: string, to: string): Promise<boolean>;
}

/** What became of a transaction that was sent. */
export type Confirmation = Readonly<{
  /** What it has come to; null when nobody has seen it land. */
  status: Commitment | null;
  /** The chain's error of one that ran and failed; null for every other. */
  err: JsonValue;
  /** Why the commitment that was waited for was not seen; null when it was. */
  failure: Failure | null;
}>;

/** Waits until transactions have come to a commitment. */
export interface Confirmations {
  /**
   * Rejects only because the signal is aborted, with its reason where that is a Failure, else with CLIENT_GONE.
   * @param sent.blockhash - that the transaction stands on; null for one that no block height ends, such as one on a
   * durable nonce.
   * @param sent.lastValidBlockHeight - from where on the blockhash may have expired: it is asked for then.
   */
  wait(
    transaction: Readonly<{
      network: Network;
      signature: Signature;
      commitment: Commitment;
      blockhash: Blockhash | null;
      lastValidBlockHeight: bigint | null;
    }>,
    signal: AbortSignal,
  ): Promise<Confirmation>;
}

/** What the operator has settled about answers. */
export type RestSettings = Readonly<{
  /** How far back transaction/history reaches, in days. */
  historyDays: number;
  /** What names of domains end in: `.sol`. */
  domainSuffix: string;
}>;

/** All that endpoints stand on besides the chain. */
export type Services = Readonly<{
  offChain: OffChain;
  das: NftDas;
  tokenList: TokenList;
  files: FileStorage;
  semiWallets: SemiWallets;
  confirmations: Confirmations;
  settings: RestSettings;
}>;
