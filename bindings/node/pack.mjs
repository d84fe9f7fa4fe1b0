// Makes the package file webnn-VERSION.tgz: node pack.mjs CMAKE_BUILD_FOLDER [FOLDER].
// Libraries that a bare Debian 12 lacks go beside the addon. In POLYCHRON_ARM64_ROOT may be a root of arm64's
// packages, by which the addon was compiled for arm64 (scripts/package.sh).
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const [, , built, folder = here] = process.argv;
if (!built) throw new Error('usage: node pack.mjs CMAKE_BUILD_FOLDER [FOLDER]');
const target = resolve(folder);
const root = process.env.POLYCHRON_ARM64_ROOT;
const addon = root ? join(built, 'webnn.node') : join(here, 'build/webnn.node');
const [cpu, strip] = root ? ['arm64', 'aarch64-linux-gnu-strip'] : ['x64', 'strip'];
const [ldd, ...options] = root
  ? ['qemu-aarch64-static', '-L', root, join(root, 'lib/ld-linux-aarch64.so.1'), '--list']
  : ['ldd'];

/** Libraries of glibc and GCC that Node itself needs. */
const present =
  /^(linux-vdso|ld-linux|libc\.|libm\.|libpthread\.|libdl\.|librt\.|libstdc\+\+|libgcc_s)/;

const libraries = execFileSync(ldd, [...options, addon], { encoding: 'utf8' })
  .split('\n')
  .flatMap((line) => {
    const [, name, , path] = /^\s+(\S+) (=> (\S+))?/.exec(line) ?? [];
    if (!name || present.test(basename(name))) return [];
    if (!path?.startsWith('/')) throw new Error(`${name}, which the addon needs, is not found`);
    const inRoot = root && existsSync(join(root, path)) ? join(root, path) : path;
    return [{ name: basename(name), path: inRoot }];
  });

const stage = mkdtempSync(join(tmpdir(), 'webnn-package-'));
try {
  for (const part of ['lib', 'generated'])
    cpSync(join(here, part), join(stage, part), { recursive: true });
  // Without their own dependencies, which a program names itself.
  for (const example of readdirSync(join(here, 'examples')).filter((name) => name.endsWith('.mjs')))
    cpSync(join(here, 'examples', example), join(stage, 'examples', example));
  copyFileSync(join(here, 'README.md'), join(stage, 'README.md'));
  // Installing replaces the build's search path by the addon's own folder.
  execFileSync('cmake', ['--install', built, '--component', 'webnn', '--prefix', stage, '--strip']);
  for (const { name, path } of libraries) {
    const copy = join(stage, 'build', name);
    copyFileSync(path, copy);
    chmodSync(copy, 0o755);
    execFileSync(strip, ['--strip-unneeded', copy]);
  }
  const { scripts, devDependencies, ...published } = JSON.parse(
    readFileSync(join(here, 'package.json'), 'utf8'),
  );
  published.cpu = [cpu];
  writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
  const file = execFileSync('npm', ['pack', '--silent', '--pack-destination', target], {
    cwd: stage,
    encoding: 'utf8',
  }).trim();
  console.log(join(target, file));
} finally {
  rmSync(stage, { recursive: true });
}
