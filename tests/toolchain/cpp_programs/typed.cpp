// Calls the models of a package, and prints what they say as one document of JSON. Compiled without exceptions.
// Arguments: the folder with the models, and a file of texts, each followed by a byte of zero: the prompt, the tagged
// one, what is sought, four documents, and then those of lists.

#include <typed/typed.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace typed;

Options options;
std::string separator;

template <class T>
T got(Result<T> result) {
  if (result) return *std::move(result);
  std::cerr << result.error().what() << "\n";
  std::exit(1);
}

std::string json(const std::string& text) {
  std::string made = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') made += '\\';
    made += each;
  }
  return made + "\"";
}
template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
std::string json(T number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", static_cast<double>(number));
  return text;
}
std::string json(const Classification& each) { return json(each.label); }
std::string json(const Ranked& each) { return "[" + json(each.index) + "," + json(each.score) + "]"; }
std::string json(const Detection& each) {
  return "[" + json(each.label) + "," + json(each.index) + "," + json(each.score) + "," + json(each.box.left) + "," + json(each.box.bottom) + "]";
}
std::string json(const Entity& each) {
  return "[" + json(each.label) + "," + json(each.text) + "," + json(each.start) + "," + json(each.end) + "," + json(each.score) + "]";
}
template <class T>
std::string json(const std::vector<T>& values) {
  std::string made;
  for (const auto& each : values) made += (made.empty() ? "" : ",") + json(each);
  return "[" + made + "]";
}

template <class T>
void say(const char* name, const T& value) {
  std::cout << separator << json(std::string(name)) << ":" << json(value);
  separator = ",\n";
}

template <class T>
std::string code(const Result<T>& result) {
  return result ? "done" : name_of(result.error().code());
}

int main(int, char** arguments) {
  options.models = arguments[1];
  std::ifstream file(arguments[2], std::ios::binary);
  std::vector<std::string> texts;
  for (std::string text; std::getline(file, text, '\0');) texts.push_back(text);
  const std::vector<std::string> documents(texts.begin() + 3, texts.begin() + 10);
  const std::vector<std::string> listed(texts.begin() + 10, texts.end());
  std::cout << "{";

  say("spans", got(got(Tagger::load(options)).entities(texts[1])));
  const auto noted = got(got(Noter::load(options)).predict("before", texts[1]));
  say("noted", noted.tags);
  say("copied", noted.copied.values);
  say("ranked", got(got(Ranker::load(options)).rank("a", documents)));
  const auto embedder = got(Embedder::load(options));
  say("together", got(embedder.embed_all(listed)));
  say("alone", got(embedder.embed(listed[0])));
  say("none", got(embedder.embed_all({})));
  const auto topics = got(Topics::load(options));
  say("topics", got(topics.classify_all(listed)));
  say("topic", got(topics.classify(listed[0])));
  say("one topic", got(topics.classify_all(listed, 1))[0].size());
  const auto judge = got(Judge::load(options));
  say("judge", got(judge.score_all({texts[2]}, listed)));
  std::vector<std::string> many;
  for (int time = 0; time < 3; ++time) many.insert(many.end(), listed.begin(), listed.end());
  say("judged", got(judge.rank(texts[2], many)));
  say("no pairs", code(judge.score_all({"a", "b"}, {"a", "b", "c"})));

  const auto teller = got(Teller::load(options));
  std::vector<std::string> told;
  for (const auto& each : {texts[0], std::string(), std::string("a dog")}) told.push_back(got(teller.generate(each)));
  say("told", told);
  std::string parts;
  say("whole", got(teller.generate(texts[0], [&](std::string_view part) { return (parts += part), true; })));
  say("parts", parts);
  int count = 0;
  say("stopped", got(teller.generate(texts[0], [&](std::string_view) { return ++count < 2; })).size() < told[0].size());
  const auto sampler = got(Sampler::load(options));
  const std::vector<Message> said = {{"system", "be kind"}, {"user", "\u3000 fox\x1c"}, {"assistant", "$quick"}, {"user", "\U0001f600 dog "}};
  say("chat", got(sampler.chat(said, {}, 7)));
  say("seeds", std::vector<std::string>{got(sampler.generate("a dog", {}, 0)), got(sampler.generate("a dog", {}, 1099511627776))});
  std::vector<std::string> refused;
  for (const auto& each : std::vector<std::vector<Message>>{{{"assistant", "dog"}}, {{"user", "a </end> b"}}, {}}) {
    refused.push_back(sampler.chat(each).error().what());
  }
  say("no chat", refused);
  std::vector<std::int16_t> samples;
  for (int index = 0; index < 160; ++index) samples.push_back(static_cast<std::int16_t>(index * 7919 % 60000 - 30000));
  say("heard", got(got(ScribeModel::load(options)).generate(SoundView(samples, 16000))));

  const std::uint8_t square[] = {1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8, 5, 6, 7, 8};
  const std::vector<std::int64_t> given = {2, 0, 1};
  const auto found = got(got(Everything::load(options)).predict(Picture(square, 2, 2), {given, {3}}));
  say("where", found.where.classes);
  say("shades", found.where.scores);
  say("labels", found.where.labels);
  say("vector", found.vector);
  say("words", found.words.text);
  say("sureness", found.words.score);
  say("raw", found.raw.values);
  say("made", std::vector<std::uint8_t>(found.made.pixels.begin() + 8, found.made.pixels.begin() + 12));

  const auto finder = got(Finder::load(options));
  const std::vector<float> boxes = {1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<float> scores = {0.5F, 0.25F};
  const std::vector<std::int64_t> classes = {1, 7};
  say("boxes", got(finder.detect({boxes, {2, 4}}, {scores, {2}}, {classes, {2}})));
  say("wrong", code(finder.run({boxes, {1, 8}}, {scores, {2}}, {classes, {2}})));
  say("unknown", code(finder.run(boxes, {scores, {2}}, {classes, {2}})));

  auto listener = got(ListenerModel::load(options));
  const auto hear = [&](const SoundView& sound) {
    std::vector<float> values(6);
    for (const auto& each : got(listener.classify(sound))) values[static_cast<std::size_t>(each.index)] = each.score;
    return values;
  };
  const std::vector<float> stereo = {0.5F, 0.25F, 0.25F, -0.25F};
  const std::vector<float> mono = {0.5F, 0.25F};
  say("first", hear(SoundView(stereo, 8000, 2)));
  say("second", hear(SoundView(mono, 44100)));
  listener.reset();
  say("again", hear(SoundView(stereo, 8000, 2)));
  say("sounds", std::vector<std::string>{code(listener.classify(SoundView(mono, 10))), code(listener.classify(SoundView(stereo, 8000, 3))),
                                         code(listener.classify(SoundView(std::vector<float>(), 8000)))});
  std::cout << "}\n";
}
