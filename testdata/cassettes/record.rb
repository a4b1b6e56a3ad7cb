# Records cassettes of this directory with the vcr gem, against a server of its own. Needs Debian's
# ruby-vcr and ruby-webmock: ruby record.rb
require "json"
require "net/http"
require "socket"
require "stringio"
require "zlib"
require "vcr"

HERE = __dir__
server = TCPServer.new("127.0.0.1", 0)
port = server.addr[1]
Thread.new do
  loop do
    client = server.accept
    length = 0
    while (line = client.gets) && line != "\r\n"
      length = line.split(":")[1].to_i if line.downcase.start_with?("content-length")
    end
    client.read(length)
    out = JSON.generate({ error: { message: "no result \u00e9" } })
    client.write("HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: #{out.bytesize}\r\nConnection: close\r\n\r\n#{out}")
    client.close
  end
end

TEXTS = {
  "short" => "list it",
  "lines" => "first line\n\n  second line, indented\nlast line  \n",
  "letters" => "h\u00e9llo \u4e16\u754c \u{1F600} end",
}

def chat(text)
  { model: "gpt-4o", messages: [
    { role: "user", content: text },
    { role: "assistant", content: nil, tool_calls: [
      { id: "call_lost", type: "function", function: { name: "ls", arguments: JSON.generate({ path: text }) } }] },
    { role: "user", content: "go on" }] }
end

BODIES = {
  "compact" => ->(b) { JSON.generate(b) },
  "pretty" => ->(b) { JSON.pretty_generate(b) },
  "packed" => ->(b) { io = StringIO.new("".b); z = Zlib::GzipWriter.new(io); z.mtime = 1; z.write(JSON.generate(b)); z.close; io.string },
}

[true, false].each do |exact|
  TEXTS.each do |name, text|
    BODIES.each do |form, body|
      next if form == "packed" && (name != "lines" || exact)
      VCR.configure do |c|
        c.cassette_library_dir = HERE
        c.hook_into :webmock
        c.before_record { |i| i.request.uri = "http://127.0.0.1:8080/v1/chat/completions"; i.request.headers = {}; i.response.headers = {} }
      end
      cassette = "ruby-#{name}-#{form}#{exact ? "-exact" : ""}"
      file = File.join(HERE, "#{cassette}.yml")
      File.delete(file) if File.exist?(file)
      VCR.use_cassette(cassette, preserve_exact_body_bytes: exact, record: :all) do
        sent = body.call(chat(text))
        sent = sent.b if name == "letters"
        Net::HTTP.post(URI("http://127.0.0.1:#{port}/v1/chat/completions"), sent, "Content-Type" => "application/json")
      end
      out = File.binread(file).gsub(/recorded_at: .*/, "recorded_at: Thu, 26 Nov 2026 00:00:00 GMT")
      File.binwrite(file, out)
    end
  end
end
