import { ByteWriter } from '../../../../src/base/bytes.ts';
import { type Blockhash, blockhashBytes } from '../../../../src/solana/blockhash.ts';
import type { Keypair } from '../../../../src/solana/ed25519.ts';
import { encodeMessage } from '../../../../src/solana/message/message.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { SIGNATURE_BYTES, signatureFromBytes } from '../../../../src/solana/signature.ts';
import { compileMessage } from '../../../../src/solana/transaction/compile-message.ts';
import { encodeTransaction } from '../../../../src/solana/transaction/encode-transaction.ts';
import { slot, U64_MAX } from '../../../../src/solana/units.ts';
import type { GossipVote } from '../../../../src/streams/ledger-event.ts';
import { towerAfter } from './vote-history.ts';

const TOWER_SYNC = 14;
const HASH_BYTES = 32;

export type Voter = Readonly<{ identity: Keypair; vote: Keypair }>;

/** Time in Unix seconds. */
type VotedSlot = Readonly<{ slot: number; blockhash: Blockhash; blockTime: number }>;

/** Source: solana-vote-interface, `serde_tower_sync`. Lengths below 128 take one byte. */
function towerSync({ slot: last, blockhash, blockTime }: VotedSlot): Uint8Array {
  const { votes, rootSlot } = towerAfter(last);
  const writer = new ByteWriter()
    .u32(TOWER_SYNC)
    .u64(rootSlot ?? U64_MAX)
    .u8(votes.length);
  let before = rootSlot ?? 0n;
  for (const { slot: at, confirmationCount } of votes) {
    writeVarint(writer, at - before);
    writer.u8(confirmationCount);
    before = at;
  }
  writer.bytes(blockhashBytes(blockhash)).u8(1).i64(BigInt(blockTime));
  return writer.zeros(HASH_BYTES).finish();
}

/** LEB128. */
function writeVarint(writer: ByteWriter, value: bigint): void {
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) writer.u8(Number(rest & 0x7fn) | 0x80);
  writer.u8(Number(rest));
}

/**
 * The node's vote transaction for a slot, in wire form. It is never executed; its effect is simulated by `VoteHistory`.
 */
export function voteTransaction({ identity, vote }: Voter, voted: VotedSlot): Uint8Array {
  const message = compileMessage({
    feePayer: identity.address,
    recentBlockhash: voted.blockhash,
    instructions: [
      {
        programId: programs.vote,
        accounts: [
          { address: vote.address, signer: true, writable: true },
          { address: vote.address, signer: true, writable: false },
        ],
        data: towerSync(voted),
      },
    ],
  });
  const messageBytes = encodeMessage(message);
  return encodeTransaction([identity.sign(messageBytes), vote.sign(messageBytes)], messageBytes);
}

/** The vote as it would be seen in gossip. */
export function gossipVote(voter: Voter, voted: VotedSlot): GossipVote {
  const wire = voteTransaction(voter, voted);
  return {
    votePubkey: voter.vote.address,
    slots: towerAfter(voted.slot).votes.map((vote) => slot(vote.slot)),
    hash: voted.blockhash,
    timestamp: BigInt(voted.blockTime),
    // The signature follows the signature count.
    signature: signatureFromBytes(wire.subarray(1, 1 + SIGNATURE_BYTES)),
  };
}
