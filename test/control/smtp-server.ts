import { type AddressInfo, createServer, type Socket } from 'node:net';

export type ReceivedMail = Readonly<{ from: string; to: readonly string[]; text: string }>;

export class SmtpServer {
  readonly mails: ReceivedMail[] = [];
  answer = '250 ok';
  readonly #server = createServer((socket) => this.#greet(socket));
  readonly #sockets = new Set<Socket>();

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `smtp://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #greet(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#sockets.delete(socket));
    let held = '';
    let envelope: { from: string; to: string[] } = { from: '', to: [] };
    let isData = false;
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    const obey = (line: string): void => {
      const verb = line.slice(0, 4).toUpperCase();
      if (verb === 'EHLO' || verb === 'HELO') say('250 solway.test');
      else if (verb === 'MAIL') {
        envelope = { from: line.slice(10), to: [] };
        say(this.answer);
      } else if (verb === 'RCPT') {
        envelope.to.push(line.slice(8).replace(/[<>]/g, ''));
        say('250 ok');
      } else if (verb === 'DATA') {
        isData = true;
        say('354 go on');
      } else if (verb === 'QUIT') socket.end('221 bye\r\n');
      else say('250 ok');
    };
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      held += text;
      for (;;) {
        const end = isData ? '\r\n.\r\n' : '\r\n';
        const at = held.indexOf(end);
        if (at < 0) return;
        const said = held.slice(0, at);
        held = held.slice(at + end.length);
        if (isData) {
          isData = false;
          this.mails.push({ ...envelope, text: said });
          say('250 taken');
        } else obey(said);
      }
    });
    say('220 solway.test');
  }
}
