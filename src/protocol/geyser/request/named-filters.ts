import { readOnlyField } from '../fields.ts';
import { ProtobufReader } from '../protobuf.ts';
import { type FilterKind, filterFacts } from './filter-facts.ts';
import type { ReadFilter } from './filters.ts';
import type { RequestFaults } from './request-faults.ts';

const NOTHING: Uint8Array = new Uint8Array();

/**
 * Reads one entry of a map into it. Either half may be absent, and stands for its default then: Rust clients leave
 * out the value of a filter that asks for everything. Of entries with one name the last holds.
 */
export function readNamed<Filter>(
  kind: FilterKind,
  named: Map<string, Filter>,
  entry: ProtobufReader,
  read: ReadFilter<Filter>,
  faults: RequestFaults,
): void {
  faults.filter();
  const isFirst = !faults.some;
  let name = '';
  let filter: Filter | undefined;
  while (entry.next()) {
    if (entry.field === 1) name = entry.string();
    else if (entry.field === 2) filter = read(entry.message(), faults);
    else entry.skipField();
  }
  named.set(name, filter === undefined ? read(new ProtobufReader(NOTHING), faults) : filter);
  if (isFirst && faults.some) faults.locate(filterFacts(kind, name));
}

/** Reads `SubscribeRequestPing`. */
export const readPingId = (reader: ProtobufReader): number =>
  readOnlyField(reader, (inner) => inner.int32(), 0);
