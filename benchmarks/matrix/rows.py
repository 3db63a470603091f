"""The rows of the matrix: nets by the library that defines them, each with the way it becomes ONNX."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.zoo import models

Way = Literal["export", "import", "file"]
"""`mobpack export`, `mobpack import`, or an ONNX file out of a package"""


@dataclass(frozen=True, kw_only=True)
class Row:
    family: str
    net: str
    """its name in the library"""
    way: Way

    @property
    def has_layers(self) -> bool:
        """Whether there is something to quantize: trees and tables of numbers have no layers."""
        return self.family not in ("scikit-learn", "boosters")

    @property
    def name(self) -> str:
        return f"{self.family}/{self.net}"


EXPORTED = {
    "torchvision": """
        squeezenet1_1 squeezenet1_0 shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0
        mnasnet0_5 mnasnet0_75 mnasnet1_0 mnasnet1_3 mobilenet_v2 mobilenet_v3_small mobilenet_v3_large
        efficientnet_b0 efficientnet_b1 efficientnet_b2 efficientnet_v2_s regnet_y_400mf regnet_x_400mf
        regnet_y_800mf regnet_x_800mf googlenet densenet121 densenet169 resnet18 resnet34 resnet50 resnext50_32x4d
        wide_resnet50_2 inception_v3 convnext_tiny swin_t swin_v2_t maxvit_t vit_b_32 vit_b_16 alexnet vgg11
        vgg11_bn lraspp_mobilenet_v3_large deeplabv3_mobilenet_v3_large fcn_resnet50 deeplabv3_resnet50
        ssdlite320_mobilenet_v3_large fasterrcnn_mobilenet_v3_large_320_fpn fasterrcnn_mobilenet_v3_large_fpn
        ssd300_vgg16 retinanet_resnet50_fpn fcos_resnet50_fpn maskrcnn_resnet50_fpn keypointrcnn_resnet50_fpn
        raft_small r3d_18 mc3_18 r2plus1d_18 s3d
    """,
    "timm": """
        test_vit test_convnext test_resnet test_efficientnet resnet10t resnet14t resnet18 resnet26 resnetv2_50
        seresnet18 ecaresnet26t mobilenetv2_050 mobilenetv2_100 mobilenetv3_small_050 mobilenetv3_small_100
        mobilenetv3_large_100 mobilenetv4_conv_small mobilenetv4_conv_medium mobilenetv4_hybrid_medium mobileone_s0
        mobilevit_xxs mobilevit_xs mobilevitv2_050 fastvit_t8 fastvit_sa12 efficientnet_b0 efficientnet_lite0
        efficientnet_es efficientnetv2_rw_t tf_efficientnet_b0 tf_efficientnetv2_b0 tinynet_e tinynet_a lcnet_050
        lcnet_100 ghostnet_050 ghostnet_100 ghostnetv2_100 hardcorenas_a mnasnet_small semnasnet_075 spnasnet_100
        fbnetc_100 fbnetv3_b mixnet_s rexnet_100 regnetx_002 regnety_002 regnety_004 gernet_s repvgg_a0
        repghostnet_050 repvit_m0_9 repvit_m1 tiny_vit_5m_224 efficientvit_b0 efficientvit_m0 efficientformer_l1
        efficientformerv2_s0 edgenext_xx_small edgenext_x_small levit_128s levit_conv_128s convnext_atto
        convnext_femto convnextv2_atto convnextv2_femto inception_next_atto starnet_s1 poolformer_s12
        poolformerv2_s12 caformer_s18 convformer_s18 pvt_v2_b0 pit_ti_224 coat_lite_tiny coatnet_nano_rw_224
        coatnext_nano_rw_224 maxvit_nano_rw_256 maxxvit_rmlp_nano_rw_256 crossvit_tiny_240 xcit_nano_12_p16_224
        convit_tiny vit_tiny_patch16_224 vit_pwee_patch16_reg1_gap_256 deit_tiny_patch16_224 cait_xxs24_224
        swin_tiny_patch4_window7_224 swinv2_tiny_window8_256 swinv2_cr_tiny_224 hiera_tiny_224 nest_tiny
        twins_svt_small visformer_tiny volo_d1_224 sequencer2d_s mixer_s32_224 gmixer_24_224 resmlp_12_224
        gmlp_ti16_224 mambaout_femto dla34 dla46_c dpn48b res2net50_14w_8s densenet121 hrnet_w18_small inception_v3
        xception41 vovnet39a ese_vovnet19b_dw selecsls42b skresnet18 cspresnet50 cspdarknet53 darknet53 dm_nfnet_f0
        nf_regnet_b0 eca_nfnet_l0 gcresnext26ts halonet26t lambda_resnet26t botnet26t_256 sebotnet33ts_256
        bat_resnext26ts eva02_tiny_patch14_224 beit_base_patch16_224 focalnet_tiny_srf davit_tiny gcvit_xxtiny
        tresnet_m nextvit_small rdnet_tiny shvit_s1 swiftformer_xs fasternet_t0 mobilenet_edgetpu_v2_xs
    """,
    "transformers": """
        arcee bart bigbird_pegasus blenderbot blenderbot-small bloom codegen cohere deepseek_v3 falcon gemma gemma2
        gemma3_text glm gpt2 gpt_bigcode gpt_neo gpt_neox gpt_oss gptj granite helium llama longt5 m2m_100 marian
        mbart mistral mpt mt5 nemotron olmo olmo2 opt pegasus phi phi3 qwen2 qwen3 qwen3_moe smollm3 speech_to_text
        stablelm t5 trocr whisper moonshine
    """,
    "torchaudio": """
        conformer wav2letter emformer deepspeech wav2vec2 hubert hdemucs conv_tasnet tacotron2_encoder wavernn squim
    """,
    "diffusers": """
        unet2d unet2d_condition autoencoder_kl autoencoder_tiny vq_model dit pixart controlnet sd3_transformer
        flux_transformer asymmetric_kl
    """,
}
IMPORTED = {
    "transformers": """
        albert audio-spectrogram-transformer beit bert big_bird camembert chinese_clip clip clip_vision_model
        colpali convbert convnext convnextv2 cvt d_fine data2vec-audio data2vec-text data2vec-vision deberta
        deberta-v2 decision_transformer deit detr dinov2 distilbert donut-swin dpt efficientnet electra esm flaubert
        glpn groupvit hiera hubert ibert imagegpt layoutlm layoutlmv3 levit lilt longformer markuplm maskformer
        mctct megatron-bert metaclip_2 mgp-str mobilebert mobilenet_v1 mobilenet_v2 mobilevit modernbert mpnet
        nystromformer owlv2 owlvit patchtsmixer patchtst perceiver poolformer pvt regnet rembert resnet roberta
        roformer rt_detr rt_detr_v2 sam segformer sew sew-d siglip siglip_vision_model splinter squeezebert swin
        swin2sr swinv2 table-transformer unispeech unispeech-sat visual_bert vit vit_mae vit_msn vitpose vits
        wav2vec2 wav2vec2-conformer wavlm xlm xlm-roberta yolos
    """,
    "keras": """
        MobileNet MobileNetV2 MobileNetV3Small MobileNetV3Large EfficientNetB0 EfficientNetV2B0 NASNetMobile
        DenseNet121 ConvNeXtTiny Xception ResNet50 ResNet50V2 InceptionV3 InceptionResNetV2 VGG16
    """,
    "scikit-learn": """
        LinearRegression Ridge Lasso ElasticNet BayesianRidge HuberRegressor SGDRegressor LogisticRegression
        SGDClassifier Perceptron RidgeClassifier LinearSVC SVC NuSVC SVR NuSVR KNeighborsClassifier
        KNeighborsRegressor GaussianNB BernoulliNB DecisionTreeClassifier DecisionTreeRegressor ExtraTreesClassifier
        RandomForestClassifier RandomForestRegressor GradientBoostingClassifier GradientBoostingRegressor
        HistGradientBoostingClassifier HistGradientBoostingRegressor AdaBoostClassifier BaggingClassifier
        VotingClassifier StackingClassifier MLPClassifier MLPRegressor IsolationForest OneClassSVM KMeans
        MiniBatchKMeans GaussianMixture PCA TruncatedSVD StandardScaler MinMaxScaler PolynomialFeatures
        QuantileTransformer PLSRegression GaussianProcessRegressor LinearDiscriminantAnalysis
        QuadraticDiscriminantAnalysis CalibratedClassifierCV OneVsRestClassifier PoissonRegressor TweedieRegressor
        TfidfVectorizer
    """,
    "boosters": """
        xgboost-classifier xgboost-regressor xgboost-ranker lightgbm-classifier lightgbm-regressor lightgbm-ranker
        catboost-classifier catboost-regressor
    """,
}


def rows() -> tuple[Row, ...]:
    """Every row, each family in one block; small nets of a family come first."""
    listed = [
        *_rows(EXPORTED, "export"),
        *_rows(IMPORTED, "import"),
        *(Row(family="packages", net=entry.name, way="file") for entry in models.read().models),
    ]
    families = list(dict.fromkeys(row.family for row in listed))
    return tuple(sorted(listed, key=lambda row: families.index(row.family)))


def in_turns(listed: Sequence[Row]) -> list[Row]:
    """The first row of each family and way, then the second of each, and so on."""
    counts: Counter[tuple[str, Way]] = Counter()
    places = []
    for row in listed:
        counts[row.family, row.way] += 1
        places.append(counts[row.family, row.way])
    return [row for _, row in sorted(zip(places, listed, strict=True), key=lambda pair: pair[0])]


def _rows(listed: dict[str, str], way: Way) -> Iterator[Row]:
    for family, nets in listed.items():
        yield from (Row(family=family, net=net, way=way) for net in nets.split())
