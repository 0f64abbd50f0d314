import { ProtobufWriter } from '../../geyser/protobuf-writer.ts';
import { type Field, parseField, parseGrpcMethod, type Schema } from './schema.ts';

/** By name, the numbers of scalar types. Source: descriptor.proto, `FieldDescriptorProto.Type`. */
const scalars: Readonly<Record<string, number>> = {
  double: 1,
  int64: 3,
  uint64: 4,
  int32: 5,
  bool: 8,
  string: 9,
  bytes: 12,
  uint32: 13,
};
const MESSAGE = 11;
const ENUM = 14;
const LABEL_OPTIONAL = 1;
const LABEL_REPEATED = 3;

/** A field that is a message. */
function writeNested(writer: ProtobufWriter, field: number, write: () => void): void {
  const start = writer.open(field);
  write();
  writer.close(start);
}

/** The name under which all files know a type: one of this package has no package in the table. */
function fullName(schema: Schema, type: string): string {
  const isOwn = type in schema.messages || type in (schema.enums ?? {});
  return isOwn ? `.${schema.package}.${type}` : `.${type}`;
}

const toCamelCase = (name: string): string =>
  name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
const entryName = (field: string): string => {
  const name = toCamelCase(field);
  return `${name[0]?.toUpperCase()}${name.slice(1)}Entry`;
};

function writeType(writer: ProtobufWriter, schema: Schema, type: string): void {
  const scalar = scalars[type];
  writer.uint32(5, scalar ?? (type in (schema.enums ?? {}) ? ENUM : MESSAGE));
  if (scalar === undefined) writer.string(6, fullName(schema, type));
}

/** Writes a `FieldDescriptorProto`. @param choice - index of the oneof that it belongs to. */
function writeField(
  writer: ProtobufWriter,
  schema: Schema,
  message: string,
  field: Field,
  oneofIndex: number | null,
): void {
  writeNested(writer, 2, () => {
    const isMany = field.label === 'repeated' || field.label === 'map';
    writer.string(1, field.name).uint32(3, field.number);
    writer.uint32(4, isMany ? LABEL_REPEATED : LABEL_OPTIONAL);
    if (field.label === 'map') {
      writer.uint32(5, MESSAGE).string(6, `.${schema.package}.${message}.${entryName(field.name)}`);
    } else writeType(writer, schema, field.type);
    if (oneofIndex !== null) writer.uint32(9, oneofIndex);
    writer.string(10, toCamelCase(field.name));
    if (field.label === 'optional') writer.bool(17, true);
  });
}

/** Writes the message that an entry of a map is. */
function writeEntry(writer: ProtobufWriter, schema: Schema, { name, type }: Field): void {
  const entry = (number: number, named: string, of: string): Field => ({
    label: null,
    type: of,
    name: named,
    number,
  });
  writeNested(writer, 3, () => {
    writer.string(1, entryName(name));
    writeField(writer, schema, '', entry(1, 'key', 'string'), null);
    writeField(writer, schema, '', entry(2, 'value', type), null);
    writeNested(writer, 7, () => void writer.bool(7, true));
  });
}

function writeEnum(
  writer: ProtobufWriter,
  field: number,
  name: string,
  values: Readonly<Record<string, number>>,
): void {
  writeNested(writer, field, () => {
    writer.string(1, name);
    for (const [value, number] of Object.entries(values)) {
      writeNested(writer, 2, () => void writer.string(1, value).uint32(2, number));
    }
  });
}

/** Writes a `DescriptorProto`. A field that says whether it is there is a choice of one, behind the real ones. */
function writeMessage(writer: ProtobufWriter, schema: Schema, message: string): void {
  const rows = schema.messages[message] ?? [];
  const oneofs = rows.flatMap((row) => (typeof row === 'string' ? [] : [row.oneof]));
  const maps: Field[] = [];
  const write = (row: string, oneofIndex: number | null): void => {
    const field = parseField(row);
    if (field.label === 'map') maps.push(field);
    const isOptional = field.label === 'optional';
    if (isOptional) oneofs.push(`_${field.name}`);
    writeField(writer, schema, message, field, isOptional ? oneofs.length - 1 : oneofIndex);
  };
  writeNested(writer, 4, () => {
    writer.string(1, message);
    for (const row of rows) {
      if (typeof row === 'string') write(row, null);
      else for (const each of row.fields) write(each, oneofs.indexOf(row.oneof));
    }
    for (const field of maps) writeEntry(writer, schema, field);
    for (const [name, values] of Object.entries(schema.enums ?? {})) {
      const [outer, inner] = name.split('.');
      if (inner !== undefined && outer === message) writeEnum(writer, 4, inner, values);
    }
    for (const name of oneofs) writeNested(writer, 8, () => void writer.string(1, name));
  });
}

function writeService(
  writer: ProtobufWriter,
  schema: Schema,
  service: string,
  calls: Readonly<Record<string, string>>,
): void {
  writeNested(writer, 6, () => {
    writer.string(1, service);
    for (const [name, row] of Object.entries(calls)) {
      const { request, response, streamsIn, streamsOut } = parseGrpcMethod(row);
      writeNested(writer, 2, () => {
        writer.string(1, name).string(2, fullName(schema, request)).string(3, fullName(schema, response));
        writer.boolOrNone(5, streamsIn).boolOrNone(6, streamsOut);
      });
    }
  });
}

/** A schema as `google.protobuf.FileDescriptorProto`, as reflection tells it. Source: protobuf, descriptor.proto. */
export function encodeFileDescriptor(schema: Schema): Uint8Array {
  const writer = new ProtobufWriter(8192);
  const imports = schema.imports ?? [];
  writer.string(1, schema.name).string(2, schema.package);
  for (const { file } of imports) writer.string(3, file);
  for (const message of Object.keys(schema.messages)) writeMessage(writer, schema, message);
  for (const [name, values] of Object.entries(schema.enums ?? {})) {
    if (!name.includes('.')) writeEnum(writer, 5, name, values);
  }
  for (const [name, calls] of Object.entries(schema.services ?? {})) {
    writeService(writer, schema, name, calls);
  }
  imports.forEach((each, index) => {
    if (each.public) writer.uint32(10, index);
  });
  return writer.string(12, 'proto3').take();
}
