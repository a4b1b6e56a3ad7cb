// The package toolguard as npm installs it: npx starts the programs of this platform.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';

const { TOOLGUARD: program, TOOLGUARD_VERSION: version, TOOLGUARD_ROOT: root, TOOLGUARD_PACKAGES: packages } = process.env;
const npx = (args, options) => spawnSync('npx', ['--no-install', ...args], { encoding: 'utf8', ...options });
const broken = `${root}/testdata/transcripts/anthropic/broken/cut-session.json`;
const bin = (name) => new URL(`node_modules/.bin/${name}`, import.meta.url).pathname;
const platform = `@toolguard/cli-${process.platform}-${process.arch}`;

test('npx passes arguments, input, output and exit codes', () => {
  assert.deepEqual(npx(['toolguard', '--version']).stdout, `toolguard ${version}\n`);
  const found = npx(['toolguard', 'check', '-o', 'concise', broken]);
  const own = spawnSync(program, ['check', '-o', 'concise', broken], { encoding: 'utf8' });
  assert.deepEqual([found.status, found.stdout, found.stderr], [1, own.stdout, own.stderr]);
  assert.equal(npx(['toolguard', 'check', '/nowhere']).status, 2);
  const whole = '[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]';
  const fixed = npx(['toolguard', 'fix', '--from', 'anthropic', '-'], { input: whole });
  assert.deepEqual([fixed.status, fixed.stdout], [0, whole]);
});

test('arguments and paths arrive byte for byte', () => {
  const dir = mkdtempSync('a "dir" with $HOME; `x` \u00e9-');
  try {
    const file = join(dir, "it's -- *.json");
    writeFileSync(file, '[');
    const r = spawnSync(process.execPath, [bin('toolguard'), 'check', '-o', 'json', file, ''], { encoding: 'utf8' });
    const own = spawnSync(program, ['check', '-o', 'json', file, ''], { encoding: 'utf8' });
    assert.deepEqual([r.status, r.stdout, r.stderr], [own.status, own.stdout, own.stderr]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test('the programs find each other', () => {
  for (const name of ['proxy', 'sqlite', 'parquet']) {
    assert.equal(npx([`toolguard-${name}`, '--version']).stdout, `toolguard-${name} ${version}\n`);
    const by = npx(['toolguard', name, '--version']);
    assert.deepEqual([by.status, by.stdout], [0, `toolguard-${name} ${version}\n`], by.stderr);
  }
});

test('a signal ends the program and this one', { timeout: 60_000 }, async () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) {
    const child = spawn(process.execPath, [bin('toolguard'), 'check', '-'], { stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.write('[');
    let below = '';
    while (!existsSync(`/proc/${below}/exe`)) {
      below = spawnSync('pgrep', ['-P', String(child.pid)], { encoding: 'utf8' }).stdout.trim() || 'none';
      await new Promise((r) => setTimeout(r, 20));
    }
    child.kill(signal);
    const [code, by] = await once(child, 'exit');
    const own = spawn(program, ['check', '-'], { stdio: ['pipe', 'pipe', 'pipe'] });
    own.stdin.write('[');
    await new Promise((r) => setTimeout(r, 300));
    own.kill(signal);
    assert.deepEqual([code, by], await once(own, 'exit'), signal);
    assert.equal(existsSync(`/proc/${below}`), false, 'the program must have ended');
  }
});

test('a reader that goes away is no error of its own', () => {
  const sh = `"${process.execPath}" "${bin('toolguard')}" check -o json "${root}/testdata/transcripts" | head -c 1 >/dev/null; echo "\${PIPESTATUS[0]}"`;
  const own = sh.replace(`"${process.execPath}" "${bin('toolguard')}"`, `"${program}"`);
  const run = (s) => execFileSync('bash', ['-c', s], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  assert.equal(run(sh), run(own));
});

test('a missing platform package is named', () => {
  const dir = new URL(`node_modules/${platform}`, import.meta.url);
  const away = new URL('away', import.meta.url);
  renameSync(dir, away);
  try {
    const r = npx(['toolguard', 'check', broken]);
    assert.equal(r.status, 2);
    assert.ok(r.stderr.startsWith(`toolguard: the package ${platform} is not installed: install toolguard again without --omit=optional`), r.stderr);
  } finally {
    renameSync(away, dir);
  }
});

test('the packages have one version, their licences, and programs that can be run', () => {
  const dir = new URL(`node_modules/${platform}/`, import.meta.url);
  const own = JSON.parse(readFileSync(new URL('package.json', dir)));
  const starter = JSON.parse(readFileSync(new URL('node_modules/toolguard/package.json', import.meta.url)));
  assert.deepEqual([own.version, own.os, own.cpu, own.license], [version, [process.platform], [process.arch], 'MIT']);
  assert.deepEqual([starter.version, starter.optionalDependencies, starter.scripts], [version, { [platform]: version }, undefined]);
  assert.deepEqual(readdirSync(dir).sort(), ['LICENSE', 'THIRD_PARTY_NOTICES', 'bin', 'package.json']);
  const programs = readdirSync(new URL('bin/', dir)).sort();
  assert.deepEqual(programs, ['toolguard', 'toolguard-parquet', 'toolguard-proxy', 'toolguard-sqlite']);
  for (const name of programs) assert.equal(statSync(new URL(`bin/${name}`, dir)).mode & 0o111, 0o111);
});

test('npm finds the package of the platform in a registry, and only that one', { timeout: 120_000 }, async () => {
  const tarball = (name) => readdirSync(packages).find((f) => f.startsWith(name) && f.endsWith('.tgz'));
  const files = { toolguard: tarball('toolguard-0'), [platform]: tarball('toolguard-cli-') };
  const others = { '@toolguard/cli-darwin-arm64': ['darwin', 'arm64'], '@toolguard/cli-win32-x64': ['win32', 'x64'] };
  const asked = [];
  const server = createServer((req, res) => {
    const path = decodeURIComponent(new URL(req.url, 'http://x').pathname.slice(1));
    asked.push(path);
    if (path.endsWith('.tgz')) return res.end(readFileSync(join(packages, path)));
    const file = files[path] ?? 'other.tgz';
    let manifest = { name: path, version, os: [others[path]?.[0]], cpu: [others[path]?.[1]] };
    if (files[path]) manifest = JSON.parse(execFileSync('tar', ['-xzOf', join(packages, file), 'package/package.json']));
    else if (!others[path]) return res.writeHead(404).end('{}');
    if (path === 'toolguard') for (const other of Object.keys(others)) manifest.optionalDependencies[other] = version;
    const dist = { tarball: `http://127.0.0.1:${server.address().port}/${file}` };
    res.end(JSON.stringify({ name: path, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dir = mkdtempSync('registry-');
  try {
    writeFileSync(join(dir, 'package.json'), '{"name":"p","private":true}');
    mkdirSync(join(dir, 'cache'));
    const child = spawn('npm', ['install', '--no-audit', '--no-fund', '--cache', join(dir, 'cache'), '--registry', `http://127.0.0.1:${server.address().port}`, 'toolguard'], { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (d) => (stderr += d));
    const [code] = await once(child, 'exit');
    assert.equal(code, 0, stderr);
    assert.deepEqual(readdirSync(join(dir, 'node_modules/@toolguard')), [platform.slice('@toolguard/'.length)]);
    assert.equal(execFileSync(join(dir, 'node_modules/.bin/toolguard'), ['--version'], { encoding: 'utf8' }), `toolguard ${version}\n`);
    assert.deepEqual(asked.filter((path) => path.endsWith('.tgz')).sort(), Object.values(files).sort());
  } finally {
    server.close();
    rmSync(dir, { recursive: true });
  }
});
