import { InvalidProtobuf, ProtobufReader } from '../geyser/protobuf.ts';
import { ProtobufWriter } from '../geyser/protobuf-writer.ts';
import { readProtoFiles } from './reflection.ts';
import { GrpcError } from './status.ts';

/** JSON form of the messages in `proto/`. Source: protobuf.dev, "ProtoJSON Format". */

type Kind =
  | 'uint64'
  | 'int64'
  | 'uint32'
  | 'int32'
  | 'bool'
  | 'double'
  | 'string'
  | 'bytes'
  | 'enum'
  | 'message';

/** By `FieldDescriptorProto.Type`. The files in `proto/` use no others. */
const kinds: Readonly<Record<number, Kind>> = {
  1: 'double',
  3: 'int64',
  4: 'uint64',
  5: 'int32',
  8: 'bool',
  9: 'string',
  11: 'message',
  12: 'bytes',
  13: 'uint32',
  14: 'enum',
};

/** `FieldDescriptorProto.Label`. */
const REPEATED = 3;
const TIMESTAMP = '.google.protobuf.Timestamp';
/** Years 1 to 9999. Source: google/protobuf/timestamp.proto. */
const [TIMESTAMP_MIN_S, TIMESTAMP_MAX_S] = [-62_135_596_800n, 253_402_300_799n];

type Field = {
  name: string;
  jsonName: string;
  number: number;
  kind: Kind;
  typeName: string;
  isRepeated: boolean;
};
type Message = { readonly fields: Field[]; isMapEntry: boolean };

/** Messages and enum values by full name, with a leading dot. */
type Types = Readonly<{ messages: Map<string, Message>; enums: Map<string, Map<number, string>> }>;

type Readers = Readonly<Record<number, (reader: ProtobufReader) => void>>;

/** Reads the fields that have a reader, and skips the others. */
function readFields(reader: ProtobufReader, readers: Readers): void {
  while (reader.next()) {
    const read = readers[reader.field];
    if (read === undefined) reader.skipField();
    else read(reader);
  }
}

function readField(descriptor: ProtobufReader): Field {
  const field: Field = {
    name: '',
    jsonName: '',
    number: 0,
    kind: 'bytes',
    typeName: '',
    isRepeated: false,
  };
  readFields(descriptor, {
    1: (reader) => {
      field.name = reader.string();
    },
    3: (reader) => {
      field.number = reader.uint32();
    },
    4: (reader) => {
      field.isRepeated = reader.uint32() === REPEATED;
    },
    5: (reader) => {
      field.kind = kinds[reader.uint32()] ?? 'bytes';
    },
    6: (reader) => {
      field.typeName = reader.string();
    },
    10: (reader) => {
      field.jsonName = reader.string();
    },
  });
  return field;
}

function addEnum(types: Types, descriptor: ProtobufReader, scope: string): void {
  const values = new Map<number, string>();
  let name = '';
  readFields(descriptor, {
    1: (reader) => {
      name = reader.string();
    },
    2: (reader) => {
      let value = '';
      let number = 0;
      readFields(reader.message(), {
        1: (inner) => {
          value = inner.string();
        },
        2: (inner) => {
          number = inner.int32();
        },
      });
      values.set(number, value);
    },
  });
  types.enums.set(`${scope}.${name}`, values);
}

function addMessage(types: Types, descriptor: ProtobufReader, scope: string): void {
  const message: Message = { fields: [], isMapEntry: false };
  let name = scope;
  readFields(descriptor, {
    1: (reader) => {
      name = `${scope}.${reader.string()}`;
    },
    2: (reader) => message.fields.push(readField(reader.message())),
    3: (reader) => addMessage(types, reader.message(), name),
    4: (reader) => addEnum(types, reader.message(), name),
    7: (reader) =>
      readFields(reader.message(), {
        7: (option) => {
          message.isMapEntry = option.bool();
        },
      }),
  });
  types.messages.set(name, message);
}

let loaded: Types | null = null;

function loadTypes(): Types {
  if (loaded !== null) return loaded;
  const types: Types = { messages: new Map(), enums: new Map() };
  for (const descriptor of readProtoFiles()) {
    let scope = '';
    readFields(new ProtobufReader(descriptor), {
      2: (reader) => {
        scope = `.${reader.string()}`;
      },
      4: (reader) => addMessage(types, reader.message(), scope),
      5: (reader) => addEnum(types, reader.message(), scope),
    });
  }
  loaded = types;
  return types;
}

const messageOf = (typeName: string): Message => {
  const message = loadTypes().messages.get(typeName);
  if (message === undefined) throw new Error(`no message ${typeName}`);
  return message;
};

type JsonObject = { [name: string]: unknown };

function decodeTimestamp(reader: ProtobufReader): string {
  let seconds = 0n;
  let nanos = 0;
  readFields(reader, {
    1: (inner) => {
      seconds = inner.int64();
    },
    2: (inner) => {
      nanos = inner.int32();
    },
  });
  if (seconds < TIMESTAMP_MIN_S || seconds > TIMESTAMP_MAX_S)
    throw new InvalidProtobuf('a timestamp is out of range');
  const time = new Date(Number(seconds) * 1_000).toISOString().slice(0, -'.000Z'.length);
  return `${time}.${String(nanos).padStart(9, '0')}Z`;
}

function decodeValue(reader: ProtobufReader, { kind, typeName }: Field): unknown {
  if (kind === 'uint64' || kind === 'int64') return String(reader[kind]());
  if (kind === 'bytes') return Buffer.from(reader.bytes()).toString('base64');
  if (kind === 'enum') {
    const number = reader.int32();
    return loadTypes().enums.get(typeName)?.get(number) ?? number;
  }
  if (kind !== 'message') return reader[kind]();
  return typeName === TIMESTAMP
    ? decodeTimestamp(reader.message())
    : decodeFields(reader.message(), messageOf(typeName));
}

const isMap = ({ kind, typeName }: Field): boolean =>
  kind === 'message' && typeName !== TIMESTAMP && messageOf(typeName).isMapEntry;

/** @param before - the value so far, to which another occurrence of a map or list adds. */
function decodeRepeated(reader: ProtobufReader, field: Field, before: unknown): unknown {
  if (isMap(field)) {
    const { key, value } = decodeFields(reader.message(), messageOf(field.typeName));
    return { ...(before as JsonObject | undefined), [String(key ?? '')]: value ?? {} };
  }
  const values = (before as unknown[] | undefined) ?? [];
  if (field.kind === 'uint64') {
    const numbers: bigint[] = [];
    reader.pushUint64s(numbers);
    for (const number of numbers) values.push(String(number));
  } else values.push(decodeValue(reader, field));
  return values;
}

/** Fields with default values are absent, as on the wire. */
function decodeFields(reader: ProtobufReader, { fields }: Message): JsonObject {
  const object: JsonObject = {};
  while (reader.next()) {
    const field = fields.find(({ number }) => number === reader.field);
    if (field === undefined) reader.skipField();
    else if (field.isRepeated) object[field.jsonName] = decodeRepeated(reader, field, object[field.jsonName]);
    else object[field.jsonName] = decodeValue(reader, field);
  }
  return object;
}

/** @param typeName - with a leading dot, such as `.geyser.SubscribeUpdate`. @throws InvalidProtobuf */
export const decodeToJson = (typeName: string, bytes: Uint8Array): JsonObject =>
  decodeFields(new ProtobufReader(bytes), messageOf(typeName));

const invalid = (name: string, expected: string): GrpcError =>
  new GrpcError('INVALID_ARGUMENT', `${name}: must be ${expected}`);

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function encodeInteger(writer: ProtobufWriter, { name, number, kind }: Field, value: unknown): void {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  if (!/^-?\d{1,20}$/.test(text) || (typeof value === 'number' && !Number.isSafeInteger(value)))
    throw invalid(name, 'an integer; write one above 2^53 as a string');
  const integer = BigInt(text);
  const isSigned = kind === 'int64' || kind === 'int32';
  const bits = kind === 'uint32' || kind === 'int32' ? 32 : 64;
  if ((isSigned ? BigInt.asIntN(bits, integer) : BigInt.asUintN(bits, integer)) !== integer)
    throw invalid(name, `within the range of ${kind}`);
  writer.uint64(number, BigInt.asUintN(64, integer));
}

function encodeEnum(writer: ProtobufWriter, { name, number, typeName }: Field, value: unknown): void {
  const values = loadTypes().enums.get(typeName) ?? new Map<number, string>();
  const found = [...values].find(([one, text]) => one === value || text === value);
  if (found === undefined) throw invalid(name, `one of ${[...values.values()].join(', ')}`);
  writer.uint32(number, found[0]);
}

function encodeValue(writer: ProtobufWriter, field: Field, value: unknown): void {
  const { name, number, kind, typeName } = field;
  if (kind === 'message') {
    const nested = writer.open(number);
    encodeFields(writer, messageOf(typeName), value, name);
    writer.close(nested);
  } else if (kind === 'enum') encodeEnum(writer, field, value);
  else if (kind === 'bool' || kind === 'double') {
    const expected = kind === 'bool' ? 'boolean' : 'number';
    if (typeof value !== expected) throw invalid(name, `a ${expected}`);
    if (kind === 'bool') writer.bool(number, value as boolean);
    else writer.double(number, value as number);
  } else if (kind === 'string' || kind === 'bytes') {
    if (typeof value !== 'string') throw invalid(name, kind === 'bytes' ? 'a base64 string' : 'a string');
    if (kind === 'bytes') writer.bytes(number, Buffer.from(value, 'base64'));
    else writer.string(number, value);
  } else encodeInteger(writer, field, value);
}

function encodeField(writer: ProtobufWriter, field: Field, value: unknown): void {
  if (!field.isRepeated) encodeValue(writer, field, value);
  else if (isMap(field)) {
    if (!isObject(value)) throw invalid(field.name, 'an object');
    for (const [key, one] of Object.entries(value)) {
      if (one === null) throw invalid(field.name, 'an object without null values');
      encodeValue(writer, field, { key, value: one });
    }
  } else {
    if (!Array.isArray(value)) throw invalid(field.name, 'an array');
    for (const one of value) encodeValue(writer, field, one);
  }
}

function encodeFields(writer: ProtobufWriter, { fields }: Message, value: unknown, at: string): void {
  if (!isObject(value)) throw invalid(at, 'an object');
  for (const [name, one] of Object.entries(value)) {
    const field = fields.find((known) => known.name === name || known.jsonName === name);
    if (field === undefined) throw invalid(name.slice(0, NAME_MAX_CHARS), 'a known field');
    if (one !== null) encodeField(writer, field, one);
  }
}

const NAME_MAX_CHARS = 64;

/** Accepts field names in camelCase and as in the `.proto` file. @throws GrpcError INVALID_ARGUMENT */
export function encodeFromJson(typeName: string, value: unknown): Uint8Array {
  const writer = new ProtobufWriter();
  encodeFields(writer, messageOf(typeName), value, 'request');
  return writer.finish();
}
