// What the engine needs of WASI preview 1: memory, randomness, clocks and standard error. It gets no
// files, no network, no environment and no arguments.

const EBADF = 8;

/** The engine ended: a fatal error of the Go runtime. What it printed is the message. */
export class Exit extends Error {}

/** Host is what a program in WebAssembly imports. */
export class Host {
  memory!: WebAssembly.Memory;
  private printed = '';
  private readonly decoder = new TextDecoder();

  /** Bytes at an address. Memory moves when it grows, so they are used at once. */
  bytes(at: number, size: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.memory.buffer as ArrayBuffer, at >>> 0, size >>> 0);
  }

  private view(): DataView {
    return new DataView(this.memory.buffer);
  }

  readonly imports = {
    args_sizes_get: (count: number, size: number) => this.none(count, size),
    environ_sizes_get: (count: number, size: number) => this.none(count, size),
    args_get: () => 0,
    environ_get: () => 0,
    clock_time_get: (id: number, _precision: bigint, at: number) => {
      const ms = id === 0 ? Date.now() : performance.now();
      this.view().setBigUint64(at, BigInt(Math.round(ms * 1e6)), true);
      return 0;
    },
    random_get: (at: number, size: number) => {
      for (let from = 0; from < size; from += 65536) {
        crypto.getRandomValues(this.bytes(at + from, Math.min(65536, size - from)));
      }
      return 0;
    },
    fd_write: (_fd: number, list: number, count: number, written: number) => {
      const view = this.view();
      let sum = 0;
      for (let i = 0; i < count; i++) {
        const at = view.getUint32(list + 8 * i, true);
        const size = view.getUint32(list + 8 * i + 4, true);
        if (this.printed.length < 65536) this.printed += this.decoder.decode(this.bytes(at, size).slice());
        sum += size;
      }
      view.setUint32(written, sum, true);
      return 0;
    },
    // Nobody waits: what a timer waits for has happened.
    poll_oneoff: (subscriptions: number, events: number, count: number, stored: number) => {
      const view = this.view();
      for (let i = 0; i < count; i++) {
        const event = events + 32 * i;
        this.bytes(event, 32).fill(0);
        view.setBigUint64(event, view.getBigUint64(subscriptions + 48 * i, true), true);
        view.setUint8(event + 10, view.getUint8(subscriptions + 48 * i + 8));
      }
      view.setUint32(stored, count, true);
      return 0;
    },
    sched_yield: () => 0,
    proc_exit: (code: number): never => {
      // The first line says what happened. Stacks have no text of the input.
      const line = this.printed.split('\n').find((l) => /^(fatal error|panic|runtime):/.test(l));
      throw new Exit(line ?? `exit code ${code}`);
    },
    fd_close: () => EBADF,
    fd_read: () => EBADF,
    fd_pread: () => EBADF,
    fd_fdstat_get: () => EBADF,
    fd_fdstat_set_flags: () => EBADF,
    fd_prestat_get: () => EBADF,
    fd_prestat_dir_name: () => EBADF,
  };

  private none(count: number, size: number): number {
    this.view().setUint32(count, 0, true);
    this.view().setUint32(size, 0, true);
    return 0;
  }
}
