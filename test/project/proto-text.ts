import type { FieldOrOneof, Schema } from '../../src/protocol/grpc/schema/schema.ts';

const indented = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

function block(head: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [`${head} {}`] : [`${head} {`, ...indented(lines), '}'];
}

const fieldLines = (field: FieldOrOneof): string[] =>
  typeof field === 'string'
    ? [`${field};`]
    : block(
        `oneof ${field.oneof}`,
        field.fields.map((each) => `${each};`),
      );

/** The text of the `.proto` file of a schema, which has no enums inside messages. */
export function protoText(schema: Schema): string {
  const imports = (schema.imports ?? []).map(
    ({ file, public: isPublic }) => `import ${isPublic ? 'public ' : ''}"${file}";`,
  );
  const services = Object.entries(schema.services ?? {}).map(([name, calls]) =>
    block(
      `service ${name}`,
      Object.entries(calls).map(([call, row]) => `rpc ${call}${row};`),
    ),
  );
  const enums = Object.entries(schema.enums ?? {}).map(([name, values]) =>
    block(
      `enum ${name}`,
      Object.entries(values).map(([value, number]) => `${value} = ${number};`),
    ),
  );
  const messages = Object.entries(schema.messages).map(([name, fields]) =>
    block(`message ${name}`, fields.flatMap(fieldLines)),
  );
  const head = ['syntax = "proto3";', `package ${schema.package};`];
  const parts = [[head[0] as string], [head[1] as string], imports, ...services, ...enums, ...messages];
  return `${parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`;
}
