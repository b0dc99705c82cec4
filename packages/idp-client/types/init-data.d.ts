// The build makes this module of the pages in docs: tools/lib/init-data.mjs.
declare module '#init-data' {
  export const guides: import('../src/cli/init/guides.ts').InitData['guides']
  export const providers: import('../src/cli/init/guides.ts').InitData['providers']
}
