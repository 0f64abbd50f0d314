import { ProtobufReader } from '../protobuf.ts';
import type { RawAccount, RawSlot, RawTransaction } from '../raw-update.ts';
import { type AccountUpdate, readAccountWrite } from './account.ts';
import type { SlotUpdate } from './slot.ts';
import { readTransactionInfo, type TransactionUpdate } from './transaction.ts';

export type Update = AccountUpdate | SlotUpdate | TransactionUpdate;

export type DecodableUpdate = RawAccount | RawSlot | RawTransaction;

/** Byte arrays of the result are views into `raw`. @throws InvalidProtobuf */
export function decodeUpdate(raw: DecodableUpdate): Update {
  const { slot } = raw;
  switch (raw.kind) {
    case 'slot':
      return raw;
    case 'account': {
      const write = readAccountWrite(new ProtobufReader(raw.info));
      return { kind: 'account', slot, isStartup: raw.isStartup, write };
    }
    case 'transaction':
      return { kind: 'transaction', slot, info: readTransactionInfo(new ProtobufReader(raw.info)) };
  }
}
