import { NO_BYTES, ProtobufReader } from '../protobuf.ts';
import type { ProtobufWriter } from '../protobuf-writer.ts';
import { type FilterKind, filterFacts, type RequestFaults } from './request-faults.ts';

/** Reads and writes one field of a request. */
export type FieldCodec<T> = Readonly<{
  /**
   * @param before - the value so far; a repeated field adds to it.
   * @returns undefined if the field is invalid; the error is then in `faults`.
   */
  read: (reader: ProtobufReader, faults: RequestFaults, before?: T) => T | undefined;
  write: (writer: ProtobufWriter, field: number, value: T) => unknown;
}>;

/** Reads and writes the fields of one message. */
export type MessageCodec<Message> = Readonly<{
  read: (reader: ProtobufReader, faults: RequestFaults) => Message;
  write: (writer: ProtobufWriter, message: Message) => void;
}>;

export type MessageOf<Codec> = Codec extends MessageCodec<infer Message> ? Message : never;

/** @param fields - number and codec of each member, in the order in which they are written. */
export function messageCodec<Values extends object>(
  fields: {
    readonly [Name in keyof Values]: readonly [field: number, codec: FieldCodec<Values[Name]>];
  },
): MessageCodec<Readonly<Partial<Values>>> {
  type Codec = FieldCodec<Values[keyof Values]>;
  const members = Object.entries(fields) as [keyof Values, readonly [number, Codec]][];
  const byNumber = new Map(members.map(([name, [field, codec]]) => [field, { name, codec }]));
  return {
    read: (reader, faults) => {
      const message: Partial<Values> = {};
      while (reader.next()) {
        const member = byNumber.get(reader.field);
        if (member === undefined) {
          reader.skipField();
          continue;
        }
        const value = member.codec.read(reader, faults, message[member.name]);
        if (value !== undefined) message[member.name] = value;
      }
      return message;
    },
    write: (writer, message) => {
      for (const [name, [field, codec]] of members) {
        const value = message[name];
        if (value !== undefined) codec.write(writer, field, value);
      }
    },
  };
}

/** Reads a map entry. The value may be absent: Rust clients omit a filter that matches everything. */
function readEntry<Filter>(
  kind: FilterKind,
  entry: ProtobufReader,
  codec: MessageCodec<Filter>,
  faults: RequestFaults,
): { name: string; filter: Filter } {
  faults.count('filters');
  const isFirst = !faults.hasFault;
  let name = '';
  let filter: Filter | undefined;
  while (entry.next()) {
    if (entry.field === 1) name = entry.string();
    else if (entry.field === 2) filter = codec.read(entry.message(), faults);
    else entry.skipField();
  }
  filter ??= codec.read(new ProtobufReader(NO_BYTES), faults);
  if (isFirst && faults.hasFault) faults.locate(filterFacts(kind, name));
  return { name, filter };
}

/** Always writes a value, even an empty one: some readers drop entries without a value. */
function writeEntry(writer: ProtobufWriter, field: number, name: string, writeValue: () => void): void {
  const entry = writer.open(field);
  writer.string(1, name);
  const value = writer.open(2);
  writeValue();
  writer.close(value);
  writer.close(entry);
}

/** Filters keyed by the names that the client chose. */
export const namedFilters = <Filter>(
  kind: FilterKind,
  codec: MessageCodec<Filter>,
): FieldCodec<ReadonlyMap<string, Filter>> => ({
  read: (reader, faults, before = new Map()) => {
    const { name, filter } = readEntry(kind, reader.message(), codec, faults);
    return (before as Map<string, Filter>).set(name, filter);
  },
  write: (writer, field, named) => {
    for (const [name, filter] of named) writeEntry(writer, field, name, () => codec.write(writer, filter));
  },
});

const emptyFilter = messageCodec({});

/** Names of filters without content; a name may occur twice. */
export const filterNames = (kind: FilterKind): FieldCodec<readonly string[]> => ({
  read: (reader, faults, before = []) => {
    (before as string[]).push(readEntry(kind, reader.message(), emptyFilter, faults).name);
    return before;
  },
  write: (writer, field, names) => {
    for (const name of names) writeEntry(writer, field, name, () => {});
  },
});
